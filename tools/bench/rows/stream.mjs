// Row 5: an answer of thousands of deltas, from the first to the last at a reader; beside the AI SDK's own text stream.
import { streamText } from 'ai';
import { median } from '../lib/measure.mjs';
import { openPerdure } from '../lib/perdure.mjs';
import { model, prose } from '../lib/work.mjs';

export async function measure(contender, folder, { deltas, samples }) {
  const text = prose(`#deltas=${deltas} `);
  const times = [];
  let check;
  if (contender === 'ai-sdk') {
    for (let sample = 0; sample <= samples; sample++) {
      const { textStream } = streamText({ model, prompt: text });
      times.push(await timed(textStream, (piece) => piece, deltas));
    }
  } else {
    const subject = await openPerdure(folder);
    for (let sample = 0; sample <= samples; sample++) {
      const stream = subject.session(`s${sample}`).stream(text);
      times.push(await timed(stream, (event) => (event.type === 'text_delta' ? event.payload.text : ''), deltas));
      await stream.finished;
    }
    check = await caughtUpElsewhere(folder, deltas);
    await subject.close();
  }
  return { ms: median(times.slice(1)), ...(check === undefined ? {} : { caughtUpElsewhere: check }) };
}

async function timed(stream, textOf, deltas) {
  let first;
  let last;
  let characters = 0;
  for await (const piece of stream) {
    const text = textOf(piece);
    if (text === '') continue;
    last = performance.now();
    first ??= last;
    characters += text.length;
  }
  if (characters !== 4 * deltas) throw new Error(`${characters} characters came`);
  return last - first;
}

/** A reader with nothing but the session's id, in another runtime, is given the whole text. */
async function caughtUpElsewhere(folder, deltas) {
  const other = await openPerdure(folder);
  const session = await other.agent.sessions.get('s0');
  let characters = 0;
  for await (const event of session.events()) {
    if (event.type === 'text_delta') characters += event.payload.text.length;
    if (event.type === 'agent_end') break;
  }
  await other.close();
  return characters === 4 * deltas;
}
