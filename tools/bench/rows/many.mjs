// Row 6: many sessions at once in one process: rounds for each second, and the lag of the event loop.
import { openFloor } from '../lib/floor.mjs';
import { percentile, watchLag } from '../lib/measure.mjs';
import { openPerdure } from '../lib/perdure.mjs';
import { FINAL, hooks, prose } from '../lib/work.mjs';

export async function measure(contender, folder, { sessions, rounds }) {
  const subject = await (contender === 'floor' ? openFloor : openPerdure)(folder);
  const text = prose(`#rounds=${rounds} `);
  await subject.turn('warm', text);
  hooks.yieldTool = true;
  const lag = watchLag();
  const began = performance.now();
  const answers = await Promise.all(Array.from({ length: sessions }, (_, n) => subject.turn(`s${n}`, text)));
  const seconds = (performance.now() - began) / 1_000;
  await new Promise((resolve) => setTimeout(resolve, 10));
  const lags = lag();
  if (answers.some((answer) => answer !== FINAL)) throw new Error('wrong answer');
  await subject.close();
  return { roundsPerSecond: (sessions * rounds) / seconds, lagP99Ms: percentile(lags, 0.99) };
}
