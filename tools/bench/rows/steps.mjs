// Rows 1 and 3: one turn of many steps with one call each, in a fresh session. Milliseconds, bytes and commits for each
// step.
import { openFloor } from '../lib/floor.mjs';
import { bytesWritten, median } from '../lib/measure.mjs';
import { openPerdure } from '../lib/perdure.mjs';
import { FINAL, prose } from '../lib/work.mjs';

export async function measure(contender, folder, { steps, samples }) {
  const subject =
    contender === 'floor' ? await openFloor(folder) : await openPerdure(folder, { governance: contender });
  const text = prose(`#rounds=${steps} `);
  await subject.turn('warm', text);
  const times = [];
  const bytes = [];
  const commits = [];
  for (let sample = 0; sample < samples; sample++) {
    const before = bytesWritten();
    const commitsBefore = subject.commits?.() ?? 0;
    const began = performance.now();
    if ((await subject.turn(`s${sample}`, text)) !== FINAL) throw new Error('wrong answer');
    times.push((performance.now() - began) / steps);
    bytes.push((bytesWritten() - before) / steps);
    commits.push(((subject.commits?.() ?? 0) - commitsBefore) / steps);
  }
  await subject.close();
  const counted = contender === 'floor' ? {} : { commitsPerStep: median(commits) };
  return { msPerStep: median(times), bytesPerStep: median(bytes), ...counted };
}
