// Row 2: one session of thousands of steps. What a step costs late in it against what it cost early, in time and bytes.
import { bytesWritten, median } from '../lib/measure.mjs';
import { openPerdure } from '../lib/perdure.mjs';
import { hooks, prose } from '../lib/work.mjs';

export async function measure(contender, folder, { steps, window }) {
  const subject = await openPerdure(folder, { governance: contender });
  await subject.turn('warm', prose('#rounds=200 '));
  const marks = [];
  hooks.onModelCall = () => marks.push([performance.now(), bytesWritten()]);
  await subject.turn('s', prose(`#rounds=${steps} `));
  hooks.onModelCall = undefined;
  await subject.close();
  const early = stretch(marks, Math.round(steps / 50), window);
  const late = stretch(marks, steps - window, window);
  return {
    msEarly: early.ms,
    msLate: late.ms,
    timeRatio: late.ms / early.ms,
    bytesEarly: early.bytes,
    bytesLate: late.bytes,
    bytesRatio: late.bytes / early.bytes,
  };
}

/** The cost of a step around a place: the median of times, and the mean of bytes, which checkpoints make uneven. */
function stretch(marks, from, window) {
  const times = [];
  for (let index = from; index < from + window - 1; index++) times.push(marks[index + 1][0] - marks[index][0]);
  const bytes = (marks[from + window - 1][1] - marks[from][1]) / (window - 1);
  return { ms: median(times), bytes };
}
