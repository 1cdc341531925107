// The one model and the one tool that all contenders use. The model has no latency and no memory: what it answers
// follows from the last user text and the tool results after it, so a contender that loses a part of the turn answers
// wrong.
const WORDS = ['amber', 'birch', 'cedar', 'delta', 'ember', 'fjord', 'grove', 'heath', 'islet', 'jetty'];

/** Text of a size in characters that begins with a head and reads like words. */
export function prose(head, size = 1_024) {
  let text = head;
  for (let n = head.length; text.length < size; n = (n * 7 + 3) % 1_009) text += ` ${WORDS[n % WORDS.length]}`;
  return text.slice(0, size);
}

export const FINAL = prose('final answer');
const results = Array.from({ length: 64 }, (_, round) => prose(`result ${round}`));

/** What the model says: a call until `rounds` results are there, then the final text. */
export function decide(userText, resultsSince) {
  const rounds = Number(/#rounds=(\d+)/.exec(userText)?.[1] ?? 0);
  if (resultsSince < rounds) return { call: { round: resultsSince + 1 } };
  const deltas = Number(/#deltas=(\d+)/.exec(userText)?.[1] ?? 0);
  return { text: deltas > 0 ? 'abcd'.repeat(deltas) : FINAL, deltas };
}

export const hooks = { onModelCall: undefined, yieldTool: false };

export async function lookup({ round }) {
  // A real tool crosses the event loop.
  if (hooks.yieldTool) await new Promise((resolve) => setImmediate(resolve));
  return results[round % results.length];
}

/** Reads what a prompt in the provider's form says of the running turn. */
function readPrompt(prompt) {
  let since = 0;
  for (let index = prompt.length - 1; index >= 0; index--) {
    const { role, content } = prompt[index];
    if (role === 'tool') since += content.length;
    if (role === 'user') return [content.map((part) => part.text ?? '').join(''), since];
  }
  return ['', since];
}

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** The model behind the AI SDK's interface, specification v3. */
export const model = {
  specificationVersion: 'v3',
  provider: 'bench',
  modelId: 'bench-1',
  supportedUrls: {},
  async doGenerate({ prompt }) {
    hooks.onModelCall?.();
    const answer = decide(...readPrompt(prompt));
    const content = answer.call === undefined ? [{ type: 'text', text: answer.text }] : [toolCall(answer)];
    return { content, finishReason: finish(answer), usage, warnings: [] };
  },
  async doStream({ prompt }) {
    hooks.onModelCall?.();
    return { stream: streamOf(decide(...readPrompt(prompt))) };
  },
};

function toolCall({ call }) {
  return { type: 'tool-call', toolCallId: 'call_0', toolName: 'lookup', input: JSON.stringify(call) };
}

function finish({ call }) {
  return { unified: call === undefined ? 'stop' : 'tool-calls', raw: undefined };
}

function* partsOf(answer) {
  yield { type: 'stream-start', warnings: [] };
  if (answer.call === undefined) {
    yield { type: 'text-start', id: 't' };
    const count = answer.deltas > 0 ? answer.deltas : 1;
    for (let n = 0; n < count; n++)
      yield { type: 'text-delta', id: 't', delta: answer.deltas > 0 ? 'abcd' : answer.text };
    yield { type: 'text-end', id: 't' };
  } else yield toolCall(answer);
  yield { type: 'finish', usage, finishReason: finish(answer) };
}

function streamOf(answer) {
  const parts = partsOf(answer);
  return new ReadableStream({
    pull(controller) {
      const { done, value } = parts.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
