import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isPerdureError } from '@perdure/plugin-api';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileName, keyOf } from './file-name.js';
import { FileSessionStore } from './file-session-store.js';
import { snapshotsFiles } from './plugin.js';
import { snapshotOf } from './snapshot.fixture.js';

let folder: string;
let store: FileSessionStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perdure-snapshots-'));
  store = new FileSessionStore(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const codeOf = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    await work();
    return 'no error';
  } catch (error) {
    return isPerdureError(error) ? error.code : error;
  }
};
const legacy = (id: string) => ({ id, messages: [{ role: 'user', content: 'Hello.' }] });

test('names of files are one for each key, and lead nowhere else', () => {
  const keys = [
    '_.s1',
    'acme.s1',
    'ACME.s1',
    'a.json',
    '..',
    '.',
    '../../etc/passwd',
    '😀',
    '%2e',
    'a b',
    '.tmp-x',
    'é',
  ];
  const names = keys.map(fileName);
  expect(new Set(names.map((name) => name.toLowerCase())).size).toBe(keys.length);
  for (const name of names) expect(name).toMatch(/^[a-z0-9_%-][a-z0-9_.%-]*$/);
  expect(names.map(keyOf)).toEqual(keys);
  for (const name of ['A', '%ZZ', '', 'a/b', '.a', '%61']) expect(keyOf(name)).toBeUndefined();
  expect(() => fileName('x'.repeat(201))).toThrow(expect.objectContaining({ code: 'PERDURE_INPUT_INVALID' }) as Error);
});

describe('a damaged file', () => {
  test('is an error wherever a byte is another or the end is missing', async () => {
    await store.save('k', snapshotOf('s', 2));
    const path = join(folder, 'k.snapshot.json');
    const whole = readFileSync(path);
    expect(JSON.parse(whole.toString())).toMatchObject({ schema_version: 1 });
    for (let at = 0; at < whole.length; at += 29) {
      const flipped = Buffer.from(whole);
      flipped[at] = (flipped[at] as number) ^ 1;
      writeFileSync(path, flipped);
      expect([at, await codeOf(() => store.load('k'))]).toEqual([at, 'PERDURE_STORE_DAMAGED']);
      writeFileSync(path, whole.subarray(0, at));
      expect([at, await codeOf(() => store.load('k'))]).toEqual([at, 'PERDURE_STORE_DAMAGED']);
    }
  });

  test('is not replaced in silence, nor by what came before it [A19]', async () => {
    writeFileSync(join(folder, 'k.json'), JSON.stringify(legacy('s')));
    writeFileSync(join(folder, 'k.snapshot.json'), '{"schema_version":1');
    expect(await codeOf(() => store.load('k'))).toBe('PERDURE_STORE_DAMAGED');
    expect(await codeOf(() => store.save('k', snapshotOf('s', 1)))).toBe('PERDURE_STORE_DAMAGED');
    expect(await store.list()).toEqual(['k']);
    await store.delete('k');
    expect(await store.load('k')).toBeUndefined();
    await store.save('k', snapshotOf('s', 1));
    expect(await store.load('k')).toEqual(snapshotOf('s', 1));
  });

  test('of one session is no other session', async () => {
    await store.save('a', snapshotOf('a', 1));
    writeFileSync(join(folder, 'b.snapshot.json'), readFileSync(join(folder, 'a.snapshot.json')));
    expect(await codeOf(() => store.load('b'))).toBe('PERDURE_STORE_DAMAGED');
  });
});

describe('a file of what came before', () => {
  test('is read and listed, and never written [A19]', async () => {
    const path = join(folder, 'old.json');
    const text = JSON.stringify(legacy('old'));
    writeFileSync(path, text);
    expect((await store.load('old'))?.session).toMatchObject({ id: 'old', messages: [{ role: 'user' }] });
    await store.save('old', snapshotOf('old', 3));
    expect(readFileSync(path, 'utf8')).toBe(text);
    expect((await store.load('old'))?.session.messages).toHaveLength(3);
    expect(await store.list()).toEqual(['old']);
  });

  test('that is malformed is an error', async () => {
    writeFileSync(join(folder, 'torn.json'), '{"id":');
    writeFileSync(join(folder, 'odd.json'), '{"id":"odd","messages":[{"role":"x","content":"y"}]}');
    expect(await codeOf(() => store.load('torn'))).toBe('PERDURE_STORE_DAMAGED');
    expect(await codeOf(() => store.load('odd'))).toBe('PERDURE_SNAPSHOT_INVALID');
  });
});

test('a folder that cannot be made or read is a typed error', async () => {
  writeFileSync(join(folder, 'file'), '');
  expect(() => new FileSessionStore(join(folder, 'file', 'x'))).toThrow(
    expect.objectContaining({ code: 'PERDURE_STORE_UNAVAILABLE' }) as Error,
  );
  expect(snapshotsFiles.provides.map(({ name }) => name)).toEqual(['snapshot-store']);
});
