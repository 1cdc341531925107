import { chmodSync, chownSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256Of } from '../effect/file-version.js';
import { anchorings, asOrdinaryUser, call, failure, temporaryWorkspace } from '../testing/temporary-workspace.js';

describe.each(anchorings)('writing, with folders held by %s', (anchoring) => {
  const { tools, write, folder } = temporaryWorkspace(anchoring);
  const put = (input: object) => call(tools['write'], input);
  const on = (path: string): string => join(folder, path);

  test('creates a file and the folders above it, with just the content that was given', async () => {
    const content = 'a\r\nb\n🙂';
    expect(await put({ file_path: 'deep/er/file.txt', content })).toEqual({
      file_path: 'deep/er/file.txt',
      encoding: 'utf-8',
      total_bytes: 9,
      total_lines: 3,
      sha256: await sha256Of(Buffer.from(content)),
    });
    expect(readFileSync(on('deep/er/file.txt'), 'utf8')).toBe(content);
    expect(readdirSync(on('deep/er'))).toEqual(['file.txt']);
  });

  test('replaces a file only when told to', async () => {
    write('old.txt', 'old');
    expect(await failure(tools['write'], { file_path: 'old.txt', content: 'new' })).toBe('file_exists');
    expect(readFileSync(on('old.txt'), 'utf8')).toBe('old');
    await put({ file_path: 'old.txt', content: 'new', overwrite: true });
    expect(readFileSync(on('old.txt'), 'utf8')).toBe('new');
  });

  test('a file that has the content already is left as it is', async () => {
    write('same.txt', 'same');
    const before = statSync(on('same.txt'));
    const first = await put({ file_path: 'same.txt', content: 'same' });
    expect(await put({ file_path: 'same.txt', content: 'same', overwrite: true })).toEqual(first);
    expect(statSync(on('same.txt')).ino).toBe(before.ino);
  });

  test('replaces the expected version only', async () => {
    write('v.txt', 'one');
    const input = { file_path: 'v.txt', content: 'two', overwrite: true };
    const one = await sha256Of(Buffer.from('one'));
    expect(await failure(tools['write'], { ...input, expected_sha256: 'a'.repeat(64) })).toBe('file_changed');
    expect(readFileSync(on('v.txt'), 'utf8')).toBe('one');
    await put({ ...input, expected_sha256: one.toUpperCase() });
    expect(readFileSync(on('v.txt'), 'utf8')).toBe('two');
    const missing = { ...input, file_path: 'no/file.txt', expected_sha256: one };
    expect(await failure(tools['write'], missing)).toBe('file_not_found');
    expect(readdirSync(folder)).not.toContain('no');
    expect(await failure(tools['write'], { ...missing, file_path: 'no.txt' })).toBe('file_changed');
  });

  test('keeps the mode, and gives a file of its own the usual one', async () => {
    write('run.sh', '#!/bin/sh');
    chmodSync(on('run.sh'), 0o4750);
    await put({ file_path: 'run.sh', content: '#!/bin/sh\n', overwrite: true });
    expect(statSync(on('run.sh')).mode & 0o7777).toBe(0o750);
    await put({ file_path: 'plain.txt', content: '' });
    expect(statSync(on('plain.txt')).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  test.runIf(process.getuid?.() === 0)('keeps owner and group where the system permits it', async () => {
    write('theirs.txt', 'x');
    chownSync(on('theirs.txt'), 1234, 1235);
    await put({ file_path: 'theirs.txt', content: 'y', overwrite: true });
    expect(statSync(on('theirs.txt'))).toMatchObject({ uid: 1234, gid: 1235 });
  });

  test('takes up to 1 MiB', async () => {
    const most = 1024 * 1024;
    await put({ file_path: 'most.txt', content: 'x'.repeat(most) });
    expect(await failure(tools['write'], { file_path: 'more.txt', content: 'x'.repeat(most + 1) })).toBe(
      'content_too_large',
    );
    expect(readdirSync(folder)).not.toContain('more.txt');
  });

  test('refuses what is no file and what is no text', async () => {
    write('sub/file.txt', 'x');
    expect(await failure(tools['write'], { file_path: 'sub', content: 'x', overwrite: true })).toBe('not_a_file');
    expect(await failure(tools['write'], { file_path: '.', content: 'x' })).toBe('not_a_file');
    expect(await failure(tools['write'], { file_path: 'sub/file.txt/y', content: 'x' })).toBe('not_a_directory');
    expect(await failure(tools['write'], { file_path: 'half.txt', content: '\ud800' })).toBe('encoding_error');
    expect(await failure(tools['write'], { file_path: 'x'.repeat(300), content: 'x' })).toBe('invalid_path');
  });

  test('of many calls that create one file, one wins and the others are told', async () => {
    const inputs = Array.from({ length: 8 }, (_, index) => ({ file_path: 'race.txt', content: `${index}` }));
    const results = await Promise.all(inputs.map((input) => failure(tools['write'], input)));
    expect(results.filter((result) => result === 'file_exists')).toHaveLength(7);
    expect(readFileSync(on('race.txt'), 'utf8')).toBe(String(results.indexOf('no failure')));
  });
});

test('a file that the user may not write is not replaced, though its folder may be written', async () => {
  const workspace = temporaryWorkspace();
  workspace.write('fixed.txt', 'x');
  chmodSync(join(workspace.folder, 'fixed.txt'), 0o444);
  const input = { file_path: 'fixed.txt', content: 'y', overwrite: true };
  const edits = [{ old_text: 'x', new_text: 'y' }];
  await asOrdinaryUser(workspace, async () => {
    expect(await failure(workspace.tools['write'], input)).toBe('permission_denied');
    expect(await failure(workspace.tools['edit'], { file_path: 'fixed.txt', edits })).toBe('permission_denied');
  });
  expect(readFileSync(join(workspace.folder, 'fixed.txt'), 'utf8')).toBe('x');
});
