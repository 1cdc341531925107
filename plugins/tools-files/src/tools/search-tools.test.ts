import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorings, call, contextOf, failure, temporaryWorkspace } from '../testing/temporary-workspace.js';

describe('list', () => {
  const { tools, write, folder } = temporaryWorkspace();

  test('tells kinds and sizes in the order of names, page by page', async () => {
    write('b.txt', 'four');
    write('.hidden', '');
    mkdirSync(join(folder, 'a'));
    const all = [
      { name: '.hidden', kind: 'file', size: 0 },
      { name: 'a', kind: 'directory' },
      { name: 'b.txt', kind: 'file', size: 4 },
    ];
    expect(await call(tools['list'], {})).toEqual({ path: '.', entries: all, total_entries: 3, truncated: false });
    const first = await call(tools['list'], { limit: 2 });
    expect(first).toMatchObject({ entries: all.slice(0, 2), truncated: true, next_cursor: 'a' });
    const second = await call(tools['list'], { limit: 2, cursor: 'a' });
    expect(second).toMatchObject({ entries: all.slice(2), truncated: false });
  });

  test.runIf(process.platform === 'linux')('tells how many names are not text', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${folder}/a/`), Buffer.from([0xff])]), '');
    expect(await call(tools['list'], { path: 'a' })).toMatchObject({
      entries: [],
      total_entries: 1,
      names_not_utf8: 1,
    });
  });

  test('fails for what is no folder', async () => {
    expect(await failure(tools['list'], { path: 'none' })).toBe('path_not_found');
    expect(await failure(tools['list'], { path: 'b.txt' })).toBe('not_a_directory');
  });
});

describe.each(anchorings)('find, with folders held by %s', (anchoring) => {
  const { tools, write } = temporaryWorkspace(anchoring);
  const find = async (input: object) => (await call(tools['find'], input))['files'];

  test('honours .gitignore files on the way and below, and leaves .git out', async () => {
    write('.gitignore', 'dist/\n*.log\n');
    write('src/.gitignore', '!keep.log\n/gen\n');
    for (const path of ['a.ts', 'x.log', 'dist/a.ts', '.git/config', 'src/b.ts', 'src/keep.log', 'src/gen/c.ts']) {
      write(path, path);
    }
    expect(await find({ pattern: '**' })).toEqual(['.gitignore', 'a.ts', 'src/.gitignore', 'src/b.ts', 'src/keep.log']);
    expect(await find({ pattern: '*.ts' })).toEqual(['a.ts']);
    expect(await find({ pattern: '*', path: 'src' })).toEqual(['src/.gitignore', 'src/b.ts', 'src/keep.log']);
    expect(await find({ pattern: '*', path: 'dist' })).toEqual(['dist/a.ts']);
  });

  test('ends at the limit and says so', async () => {
    expect(await call(tools['find'], { pattern: '**', max_results: 2 })).toMatchObject({
      files: ['.gitignore', 'a.ts'],
      truncated: true,
    });
    expect(await call(tools['find'], { pattern: '**', max_results: 5 })).toMatchObject({ truncated: false });
  });

  test('fails for a bad pattern and for what is no folder', async () => {
    expect(await failure(tools['find'], { pattern: '../*' })).toBe('invalid_pattern');
    expect(await failure(tools['find'], { pattern: '*', path: 'none' })).toBe('path_not_found');
    expect(await failure(tools['find'], { pattern: '*', path: 'a.ts' })).toBe('not_a_directory');
  });
});

test('folders that are nested too deeply are passed over and told', async () => {
  const { tools, folder } = temporaryWorkspace();
  execFileSync('mkdir', ['-p', join(folder, Array.from({ length: 300 }, () => 'd').join('/'))]);
  expect(await call(tools['find'], { pattern: '**' })).toMatchObject({ files: [], unreadable_folders: 1 });
});

test('a search ends when the call is stopped', async () => {
  const { tools, write } = temporaryWorkspace();
  for (let index = 0; index < 200; index += 1) write(`folder${index}/file.txt`, 'text\n'.repeat(100));
  for (const [name, input] of [
    ['find', { pattern: '**/none' }],
    ['grep', { query: 'none' }],
  ] as const) {
    const controller = new AbortController();
    const result = failure(tools[name], input, contextOf({ signal: controller.signal }));
    setTimeout(() => controller.abort(), 1);
    expect(await result, name).toBe('aborted');
  }
});

test.runIf(process.platform === 'linux')('no call leaves a file or folder open, however it ends', async () => {
  const { tools, write, folder } = temporaryWorkspace();
  for (let index = 0; index < 60; index += 1) write(`folder${index}/deep/file.txt`, 'needle\n');
  symlinkSync('folder1', join(folder, 'link'));
  const inputs = [
    ['read', { file_path: 'folder1/deep/file.txt' }],
    ['read', { file_path: 'folder1/deep' }],
    ['read', { file_path: 'link/deep/file.txt' }],
    ['write', { file_path: 'a/b.txt', content: 'x' }],
    ['write', { file_path: 'a/b.txt', content: 'y' }],
    ['write', { file_path: 'folder1/x/y', content: 'y', expected_sha256: '0'.repeat(64) }],
    ['edit', { file_path: 'a/b.txt', edits: [{ old_text: 'z', new_text: '' }] }],
    ['list', { path: 'folder1' }],
    ['find', { pattern: '**', max_results: 3 }],
    ['grep', { query: 'needle', max_results: 3 }],
    ['grep', { query: 'needle' }],
  ] as const;
  const openFiles = async (): Promise<number> => (await readdir('/proc/self/fd')).length;
  const before = await openFiles();
  for (let round = 0; round < 5; round += 1) {
    await Promise.all(
      inputs.map(async ([name, input]) => {
        await failure(tools[name], input);
        const controller = new AbortController();
        setTimeout(() => controller.abort(), round);
        await failure(tools[name], input, contextOf({ signal: controller.signal }));
      }),
    );
  }
  expect(await openFiles()).toBe(before);
});
