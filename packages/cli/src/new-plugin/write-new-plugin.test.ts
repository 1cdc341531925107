import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPerdureError } from '@perdure/plugin-api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { writeNewPlugin } from './write-new-plugin.js';

const files = new Map([
  ['package.json', '{}\n'],
  ['src/index.ts', 'export {};\n'],
]);
let place: string;

beforeEach(async () => {
  place = await mkdtemp(join(tmpdir(), 'perdure-new-plugin-'));
});
afterEach(async () => rm(place, { recursive: true, force: true }));

async function isRefused(folder: string): Promise<boolean> {
  const error: unknown = await writeNewPlugin(folder, files).catch((caught: unknown) => caught);
  return isPerdureError(error, 'PERDURE_INPUT_INVALID') && error.data['field'] === 'folder';
}

describe('writing a new plugin', () => {
  test('makes the folder and everything in it', async () => {
    const folder = join(place, 'deep', 'notes');
    await writeNewPlugin(folder, files);
    expect((await readdir(folder, { recursive: true })).sort()).toEqual(['package.json', 'src', 'src/index.ts']);
    expect(await readFile(join(folder, 'src/index.ts'), 'utf8')).toBe('export {};\n');
  });

  test('takes an empty folder that is there', async () => {
    await writeNewPlugin(place, files);
    expect(await readFile(join(place, 'package.json'), 'utf8')).toBe('{}\n');
  });

  test('overwrites nothing', async () => {
    await writeFile(join(place, '.env'), 'mine');
    expect(await isRefused(place)).toBe(true);
    expect(await readdir(place)).toEqual(['.env']);
    await writeNewPlugin(join(place, 'notes'), files);
    expect(await isRefused(join(place, 'notes'))).toBe(true);
  });

  test('does not take a file for a folder, nor follow a link to nowhere', async () => {
    const file = join(place, 'file');
    await writeFile(file, 'mine');
    expect(await isRefused(file)).toBe(true);
    expect(await isRefused(join(file, 'below'))).toBe(true);
    await symlink(join(place, 'nowhere'), join(place, 'link'));
    expect(await isRefused(join(place, 'link'))).toBe(true);
    expect(await readFile(file, 'utf8')).toBe('mine');
  });
});
