import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, test } from 'vitest';
import { compareText } from '../search/entry.js';
import { call, temporaryWorkspace, type Output } from '../testing/temporary-workspace.js';

const SECRET = 'the secret';

/** Swaps a folder and a file with links to their like outside, as fast as it can, until it is told to stop. */
const SWAPPER = `
const { renameSync, rmSync, symlinkSync, unlinkSync } = require('node:fs');
const { workerData } = require('node:worker_threads');
const { folder, outside, shared } = workerData;
const pairs = [['box', 'kept-box', ''], ['file.txt', 'kept-file.txt', '/file.txt']];
const attempt = (work) => {
  try {
    work();
    return true;
  } catch {
    return false; // A write came into the gap and made the folder or the file anew, as it should.
  }
};
const linger = () => {
  const until = performance.now() + Math.random() * 0.2;
  while (performance.now() < until);
};
while (Atomics.load(shared, 0) === 0) {
  for (const [name, kept, target] of pairs) {
    const [here, away] = [folder + '/' + name, folder + '/' + kept];
    renameSync(here, away);
    if (attempt(() => symlinkSync(outside + target, here))) {
      linger();
      attempt(() => unlinkSync(here));
    }
    while (!attempt(() => renameSync(away, here))) attempt(() => rmSync(here, { recursive: true, force: true }));
    linger();
    Atomics.add(shared, 1, 1);
  }
}
`;

interface Outcomes {
  served: number;
  refused: number;
}

async function attempt(outcomes: Outcomes, work: () => Promise<Output>): Promise<void> {
  let text: string;
  try {
    text = JSON.stringify(await work());
    outcomes.served += 1;
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error;
    text = error.message;
    outcomes.refused += 1;
  }
  expect(text).not.toContain(SECRET);
  expect(text).not.toContain('only-outside');
}

/** The exact guarantee is that of descriptors: elsewhere the README tells what is left. */
describe.runIf(process.platform === 'linux')('while something swaps folders and files with links', () => {
  test('no secret is returned and nothing is written outside', async () => {
    const { tools, folder, outside, write } = temporaryWorkspace('descriptors');
    write('box/file.txt', 'inside');
    write('file.txt', 'inside');
    mkdirSync(join(outside, 'sub'));
    for (const name of ['file.txt', 'only-outside.txt', 'sub/file.txt']) writeFileSync(join(outside, name), SECRET);
    const shared = new Int32Array(new SharedArrayBuffer(8));
    const swapper = new Worker(SWAPPER, { eval: true, workerData: { folder, outside, shared } });
    const ended = once(swapper, 'exit');
    const outcomes: Outcomes = { served: 0, refused: 0 };
    const until = performance.now() + 1500;
    const isEnough = (): boolean =>
      performance.now() > until && Atomics.load(shared, 1) > 100 && outcomes.served > 10 && outcomes.refused > 10;
    for (let round = 0; !isEnough(); round += 1) {
      const content = `round ${round}`;
      await Promise.all([
        attempt(outcomes, () => call(tools['read'], { file_path: 'box/file.txt' })),
        attempt(outcomes, () => call(tools['read'], { file_path: 'file.txt' })),
        attempt(outcomes, () => call(tools['write'], { file_path: 'box/file.txt', content, overwrite: true })),
        attempt(outcomes, () => call(tools['write'], { file_path: `box/deep/${round}.txt`, content })),
        attempt(outcomes, () => call(tools['write'], { file_path: 'box/sub/file.txt', content, overwrite: true })),
        attempt(outcomes, () =>
          call(tools['edit'], { file_path: 'box/file.txt', edits: [{ old_text: 'round', new_text: 'turn' }] }),
        ),
        attempt(outcomes, () => call(tools['list'], { path: 'box' })),
        attempt(outcomes, () => call(tools['find'], { pattern: '**/*' })),
        attempt(outcomes, () => call(tools['grep'], { query: 'secret' })),
      ]);
    }
    Atomics.store(shared, 0, 1);
    expect(await ended).toEqual([0]);
    expect(readdirSync(outside, { recursive: true }).map(String).sort(compareText)).toEqual([
      'file.txt',
      'only-outside.txt',
      'sub',
      'sub/file.txt',
    ]);
    for (const name of ['file.txt', 'only-outside.txt', 'sub/file.txt']) {
      expect(readFileSync(join(outside, name), 'utf8')).toBe(SECRET);
    }
  });
});
