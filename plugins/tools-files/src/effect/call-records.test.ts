import { chmodSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { temporaryWorkspace } from '../testing/temporary-workspace.js';
import { createCallRecords, defaultRecordFolder } from './call-records.js';

function recordsIn(folder: string) {
  const failures: unknown[] = [];
  return { failures, records: createCallRecords(folder, (error) => failures.push(error)) };
}

describe('records', () => {
  test('come back by their key, in a folder for this user alone', async () => {
    const { recordFolder } = temporaryWorkspace();
    const { records, failures } = recordsIn(recordFolder);
    expect(await records.read('key')).toBeUndefined();
    await records.write('key', { before: 'absent', after: 'a' });
    await records.write('key', { before: 'a', after: 'b' });
    expect(await recordsIn(recordFolder).records.read('key')).toEqual({ version: 1, before: 'a', after: 'b' });
    expect(await records.read('other')).toBeUndefined();
    expect(statSync(recordFolder).mode & 0o777).toBe(0o700);
    expect(readdirSync(recordFolder)).toHaveLength(1);
    expect(failures).toEqual([]);
  });

  test('that are damaged tell nothing', async () => {
    const { recordFolder } = temporaryWorkspace();
    const { records } = recordsIn(recordFolder);
    await records.write('key', { before: 'a', after: 'b' });
    const [name = ''] = readdirSync(recordFolder);
    for (const content of ['', '{"version":1,"bef', '{"version":2,"before":"a","after":"b"}', 'null']) {
      writeFileSync(join(recordFolder, name), content);
      expect(await records.read('key')).toBeUndefined();
    }
  });

  test.each([
    ['others may enter', (folder: string) => (mkdirSync(folder), chmodSync(folder, 0o755))],
    ['is a link', (folder: string) => symlinkSync('outside', folder)],
    ['is a file', (folder: string) => writeFileSync(folder, '')],
  ])('are neither written to nor read from a folder that %s', async (_, prepare) => {
    const { recordFolder, outside } = temporaryWorkspace();
    chmodSync(outside, 0o700);
    prepare(recordFolder);
    const { records, failures } = recordsIn(recordFolder);
    await records.write('key', { before: 'a', after: 'b' });
    expect(failures).toHaveLength(1);
    expect(await records.read('key')).toBeUndefined();
    expect(readdirSync(outside)).toEqual([]);
  });

  test('are removed when they are old, and nothing else is', async () => {
    const { recordFolder } = temporaryWorkspace();
    mkdirSync(recordFolder, { mode: 0o700 });
    const old = new Date(Date.now() - 8 * 24 * 60 * 60 * 1000);
    const names = [`${'a'.repeat(64)}.json`, `${'b'.repeat(64)}.json`, `${'c'.repeat(24)}.tmp`, 'mine.json'];
    for (const name of names) writeFileSync(join(recordFolder, name), '');
    for (const name of names) if (!name.startsWith('b')) utimesSync(join(recordFolder, name), old, old);
    await recordsIn(recordFolder).records.write('key', { before: 'a', after: 'b' });
    const left = readdirSync(recordFolder);
    expect(left).toHaveLength(3);
    expect(left).toEqual(expect.arrayContaining([`${'b'.repeat(64)}.json`, 'mine.json']));
  });

  test('of different users are in different folders', () => {
    expect(defaultRecordFolder()).toContain(String(process.getuid?.() ?? 'user'));
  });
});
