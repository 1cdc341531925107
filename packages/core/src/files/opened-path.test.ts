import { mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { foundAgain, openedPath } from './opened-path.js';

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-opened-')));
  writeFileSync(join(folder, 'inside.txt'), 'inside');
  writeFileSync(join(folder, 'outside.txt'), 'outside');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe.each([
  ['by its descriptor or its path', openedPath],
  ['by its path alone', foundAgain],
])('an opened file that is looked for %s', (_, find) => {
  test('is told by its place, however it was reached', async () => {
    symlinkSync(join(folder, 'inside.txt'), join(folder, 'link'));
    const handle = await open(join(folder, 'link'));
    expect(await find(handle, join(folder, 'link'))).toBe(join(folder, 'inside.txt'));
    await handle.close();
  });

  test('is not told to be where another file is by then', async () => {
    symlinkSync(join(folder, 'outside.txt'), join(folder, 'swapped'));
    const handle = await open(join(folder, 'swapped'));
    unlinkSync(join(folder, 'swapped'));
    renameSync(join(folder, 'inside.txt'), join(folder, 'swapped'));
    expect(await find(handle, join(folder, 'swapped'))).not.toBe(join(folder, 'swapped'));
    await handle.close();
  });
});
