import { chmodSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { sha256Of } from '../effect/file-version.js';
import { anchorings, call, failure, temporaryWorkspace } from '../testing/temporary-workspace.js';

const change = (old_text: string, new_text: string) => ({ old_text, new_text });

describe.each(anchorings)('editing, with folders held by %s', (anchoring) => {
  const { tools, write, folder } = temporaryWorkspace(anchoring);
  const edit = (input: object) => call(tools['edit'], input);
  const content = (path: string) => readFileSync(join(folder, path));

  test('makes all edits and tells the new version', async () => {
    write('a.ts', 'one\ntwo\nthree\n');
    const edits = [change('three', '3'), change('one\n', '')];
    expect(await edit({ file_path: './a.ts', edits })).toEqual({
      file_path: 'a.ts',
      encoding: 'utf-8',
      total_bytes: 6,
      total_lines: 2,
      sha256: await sha256Of(Buffer.from('two\n3\n')),
      edits: 2,
    });
    expect(content('a.ts').toString()).toBe('two\n3\n');
  });

  test('makes none when one cannot be made', async () => {
    write('b.ts', 'one two two');
    for (const [second, code] of [
      [change('three', '3'), 'not_found'],
      [change('two', '2'), 'duplicate_match'],
      [change('e t', '-'), 'overlapping_edits'],
    ] as const) {
      expect(await failure(tools['edit'], { file_path: 'b.ts', edits: [change('one', '1'), second] })).toBe(code);
    }
    expect(content('b.ts').toString()).toBe('one two two');
  });

  test('keeps encoding, byte order mark, line ends and mode', async () => {
    const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
    write('wide.txt', utf16('é\r\nb\r\n'));
    chmodSync(join(folder, 'wide.txt'), 0o600);
    await edit({ file_path: 'wide.txt', edits: [change('é\nb', 'é\n🙂\nb')] });
    expect(content('wide.txt')).toEqual(utf16('é\r\n🙂\r\nb\r\n'));
    expect(statSync(join(folder, 'wide.txt')).mode & 0o777).toBe(0o600);
    write('mark.txt', '\ufeffa\n');
    await edit({ file_path: 'mark.txt', edits: [change('a', 'b')] });
    expect(content('mark.txt').toString()).toBe('\ufeffb\n');
  });

  test('refuses what goes beyond the limits or is not there to be edited', async () => {
    write('c.txt', 'abc');
    write('c.bin', 'a\0c');
    write('c.latin', Buffer.from([0x61, 0xe9]));
    const one = [change('a', 'b')];
    for (const [input, code] of [
      [{ file_path: 'c.txt', edits: [] }, 'no_edits'],
      [{ file_path: 'c.txt', edits: [change('a', 'a')] }, 'no_edits'],
      [{ file_path: 'c.txt', edits: Array.from({ length: 51 }, () => change('a', 'b')) }, 'too_many_edits'],
      [{ file_path: 'c.txt', edits: [change('a'.repeat(10_001), 'b')] }, 'edit_too_large'],
      [{ file_path: 'c.txt', edits: [change('a', 'b'.repeat(50_001))] }, 'edit_too_large'],
      [{ file_path: 'c.txt', edits: [change('a', '\ud800')] }, 'encoding_error'],
      [{ file_path: 'c.txt', edits: one, expected_sha256: '0'.repeat(64) }, 'file_changed'],
      [{ file_path: 'c.bin', edits: one }, 'binary_file'],
      [{ file_path: 'c.latin', edits: one }, 'encoding_error'],
      [{ file_path: 'none.txt', edits: one }, 'file_not_found'],
      [{ file_path: '.', edits: one }, 'not_a_file'],
      [{ file_path: 'c.txt', edits: [change('', 'b')] }, 'PERDURE_TOOL_INPUT'],
    ] as const) {
      expect(await failure(tools['edit'], input), JSON.stringify(input).slice(0, 100)).toBe(code);
    }
    expect(content('c.txt').toString()).toBe('abc');
  });

  test('parallel edits of one file are all made', async () => {
    const words = Array.from({ length: 10 }, (_, index) => `word${index};`);
    write('many.txt', words.join('\n'));
    await Promise.all(words.map((word) => edit({ file_path: 'many.txt', edits: [change(word, `${word}!`)] })));
    expect(content('many.txt').toString()).toBe(words.map((word) => `${word}!`).join('\n'));
  });
});
