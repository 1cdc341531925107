import { createHash } from 'node:crypto';
import { chmodSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { asOrdinaryUser, call, contextOf, failure, temporaryWorkspace } from '../testing/temporary-workspace.js';

const { tools, write, folder } = temporaryWorkspace();
const read = (input: object) => call(tools['read'], input);

describe('reading text', () => {
  test('gives lines, what is left, and a digest of the whole file', async () => {
    write('lines.txt', 'zero\none\ntwo\nthree\n');
    expect(await read({ file_path: 'lines.txt', offset: 1, limit: 2 })).toEqual({
      file_path: 'lines.txt',
      type: 'text',
      encoding: 'utf-8',
      byte_order_mark: false,
      line_ending: 'lf',
      total_bytes: 19,
      total_lines: 4,
      start_line: 2,
      end_line: 3,
      content: 'one\ntwo',
      truncated: true,
      next_offset: 3,
      sha256: createHash('sha256').update('zero\none\ntwo\nthree\n').digest('hex'),
    });
    expect(await read({ file_path: 'lines.txt', offset: 3 })).toMatchObject({ content: 'three', truncated: false });
    expect(await read({ file_path: 'lines.txt', offset: 9 })).toMatchObject({
      content: '',
      start_line: 0,
      end_line: 0,
    });
  });

  test('an empty file has no lines', async () => {
    write('empty.txt', '');
    expect(await read({ file_path: 'empty.txt' })).toMatchObject({ content: '', total_lines: 0, truncated: false });
  });

  test.each([
    ['utf-8', Buffer.from('\ufeffé\n🙂')],
    ['utf-16le', Buffer.from('\ufeffé\n🙂', 'utf16le')],
    ['utf-16be', Buffer.from('\ufeffé\n🙂', 'utf16le').swap16()],
  ])('with a byte order mark: %s', async (encoding, bytes) => {
    write('mark.txt', bytes);
    const output = await read({ file_path: 'mark.txt' });
    expect(output).toMatchObject({ encoding, byte_order_mark: true, content: 'é\n🙂', total_bytes: bytes.length });
  });

  test('gives at most 256 KiB, 2,000 lines, and goes on from there', async () => {
    write('long.txt', `${'x'.repeat(999)}\n`.repeat(1000));
    const output = await read({ file_path: 'long.txt', limit: 2000 });
    expect(output).toMatchObject({ end_line: 262, truncated: true, next_offset: 262, total_lines: 1000 });
    await expect(read({ file_path: 'long.txt', limit: 2001 })).rejects.toMatchObject({
      code: 'PERDURE_TOOL_INPUT',
      data: { tool: 'read', field: 'limit' },
    });
  });

  test('cuts very long lines', async () => {
    write('wide.txt', `${'y'.repeat(20_000)}\nend`);
    const output = await read({ file_path: 'wide.txt' });
    expect(output['content']).toBe(`${'y'.repeat(8192)}…[line cut, 20000 bytes]\nend`);
    expect(output['cut_lines']).toBe(1);
  });
});

describe('what is not text', () => {
  test.each([
    ['image.png', Buffer.from('89504e470d0a1a0a0000', 'hex'), 'image', 'image/png'],
    ['data.bin', Buffer.from([1, 0, 2]), 'binary', 'application/octet-stream'],
    ['latin.txt', Buffer.from([0x61, 0xe9]), 'binary', 'application/octet-stream'],
  ])('%s is described', async (name, bytes, type, mimeType) => {
    write(name, bytes);
    const output = await read({ file_path: name });
    expect(output).toMatchObject({ type, mime_type: mimeType, total_bytes: bytes.length });
    expect(output).not.toHaveProperty('content');
  });

  test('folders, missing and very large files fail with a code and the path as it was given', async () => {
    write('sub/file.txt', 'x');
    write('large.txt', '');
    truncateSync(join(folder, 'large.txt'), 64 * 1024 * 1024 + 1);
    expect(await failure(tools['read'], { file_path: 'sub' })).toBe('not_a_file');
    expect(await failure(tools['read'], { file_path: '.' })).toBe('not_a_file');
    expect(await failure(tools['read'], { file_path: 'sub/file.txt/x' })).toBe('not_a_directory');
    expect(await failure(tools['read'], { file_path: 'large.txt' })).toBe('file_too_large');
    await expect(read({ file_path: './sub/../none.txt' })).rejects.toThrow('"./sub/../none.txt" does not exist.');
    await expect(read({ file_path: 'none.txt' })).rejects.toMatchObject({ code: 'file_not_found' });
  });

  test('what the user may not read is told', async () => {
    const workspace = temporaryWorkspace();
    workspace.write('private.txt', 'x');
    chmodSync(join(workspace.folder, 'private.txt'), 0);
    const code = await asOrdinaryUser(workspace, () => failure(workspace.tools['read'], { file_path: 'private.txt' }));
    expect(code).toBe('permission_denied');
  });
});

test('the permission subject is the normalised path, however it was spelled', () => {
  const subjects = (input: object) => tools['read']?.permissionSubjects?.(input as never);
  for (const file_path of ['src/app.ts', './src/app.ts', 'src//x/../app.ts', join(folder, 'src/app.ts')]) {
    expect(subjects({ file_path })).toEqual(['src/app.ts']);
  }
  expect(subjects({ file_path: '../../etc/passwd' })).toEqual(['../../etc/passwd']);
  expect(subjects({ file_path: '/etc/../etc/passwd' })).toEqual(['/etc/passwd']);
});

test('an unknown member of the input is refused by name', async () => {
  await expect(read({ file_path: 'a', start: 1 })).rejects.toMatchObject({ code: 'PERDURE_TOOL_INPUT' });
});

test('a call that was stopped before it began does nothing', async () => {
  const context = contextOf({ signal: AbortSignal.abort() });
  for (const [name, input] of [
    ['read', { file_path: 'lines.txt' }],
    ['write', { file_path: 'new.txt', content: '' }],
    ['list', {}],
    ['find', { pattern: '*' }],
    ['grep', { query: 'x' }],
  ] as const) {
    expect(await failure(tools[name], input, context), name).toBe('aborted');
  }
  expect(await failure(tools['read'], { file_path: 'new.txt' })).toBe('file_not_found');
});
