import { linkSync, truncateSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { anchorings, call, contextOf, failure, temporaryWorkspace } from '../testing/temporary-workspace.js';

interface Match {
  readonly path: string;
  readonly line_number: number;
  readonly column?: number;
  readonly text: string;
  readonly before?: readonly string[];
  readonly after?: readonly string[];
}

describe.each(anchorings)('grep, with folders held by %s', (anchoring) => {
  const { tools, write, folder } = temporaryWorkspace(anchoring);
  const grep = (input: object) => call(tools['grep'], input);
  const matches = async (input: object) => (await grep(input))['matches'] as readonly Match[];
  const places = async (input: object) => (await matches(input)).map((match) => `${match.path}:${match.line_number}`);

  write('src/a.ts', 'const Alpha = 1;\nconst beta = 2;\n\nalpha.beta(c);\n');
  write('src/b.md', 'é alpha\n');
  write('.github/c.yml', 'alpha: 1\r\nbeta: 2\r\n');
  write('.gitignore', 'dist\n');
  write('dist/a.js', 'alpha');
  write('.git/HEAD', 'alpha');

  test('takes the query as text, in any letter case, unless told otherwise', async () => {
    const all = ['.github/c.yml:1', 'src/a.ts:1', 'src/a.ts:4', 'src/b.md:1'];
    expect(await places({ query: 'alpha' })).toEqual(all);
    expect(await places({ query: 'Alpha', case_sensitive: true })).toEqual(['src/a.ts:1']);
    expect(await places({ query: 'a.*b' })).toEqual([]);
    expect(await places({ query: 'a.*b', literal: false })).toEqual(['src/a.ts:4']);
    expect(await places({ query: '1$', literal: false })).toEqual(['.github/c.yml:1']);
    expect(await places({ query: '(c)' })).toEqual(['src/a.ts:4']);
    expect(await places({ query: '--help' })).toEqual([]);
  });

  test('tells line, column and text, with the lines around when they are asked for', async () => {
    expect(await matches({ query: 'beta', path: 'src', context_lines: 1 })).toEqual([
      {
        path: 'src/a.ts',
        line_number: 2,
        column: 7,
        text: 'const beta = 2;',
        before: ['const Alpha = 1;'],
        after: [''],
      },
      { path: 'src/a.ts', line_number: 4, column: 7, text: 'alpha.beta(c);', before: [''], after: [] },
    ]);
    expect(await matches({ query: 'alpha', path: 'src/b.md' })).toEqual([
      { path: 'src/b.md', line_number: 1, column: 3, text: 'é alpha' },
    ]);
  });

  test('searches folders, files and globs', async () => {
    expect(await places({ query: 'alpha', glob: ['*.md'] })).toEqual(['src/b.md:1']);
    expect(await places({ query: 'alpha', glob: ['!*.md', '!.github'] })).toEqual(['src/a.ts:1', 'src/a.ts:4']);
    expect(await places({ query: 'alpha', path: 'dist' })).toEqual(['dist/a.js:1']);
    expect(await failure(tools['grep'], { query: 'a', path: 'none' })).toBe('path_not_found');
    expect(await failure(tools['grep'], { query: 'a', glob: ['../*'] })).toBe('invalid_pattern');
  });

  test('ends at the limit and says so', async () => {
    const output = await grep({ query: 'alpha', max_results: 2 });
    expect(output).toMatchObject({ truncated: true, matches: [{ path: '.github/c.yml' }, { line_number: 1 }] });
    expect(await grep({ query: 'alpha', max_results: 4 })).toMatchObject({ truncated: false });
    write('many/a.txt', `${'needle '.repeat(200)}\n`.repeat(300));
    const large = await grep({ query: 'needle', max_results: 2000 });
    expect(large['truncated']).toBe(true);
    expect(JSON.stringify(large).length).toBeLessThan(260 * 1024);
  });

  test('shows a long line near the match', async () => {
    write('wide/a.txt', `${'x'.repeat(10_000)}🙂here${'y'.repeat(10_000)}\nnext here\n`);
    const [first, second] = await matches({ query: 'here', path: 'wide' });
    expect(first?.text.startsWith('…xxx')).toBe(true);
    expect(first?.text).toContain('🙂here');
    expect(first?.text.endsWith('y…')).toBe(true);
    expect(first?.text.length).toBeLessThan(2010);
    expect(first?.column).toBeUndefined();
    expect(second).toEqual({ path: 'wide/a.txt', line_number: 2, column: 6, text: 'next here' });
  });

  test('reads byte order marks, and passes over binary, empty and very large files', async () => {
    write('enc/le.txt', Buffer.from('\ufeffab\nçneedle\n', 'utf16le'));
    write('enc/be.txt', Buffer.from('\ufeffab\nçneedle\n', 'utf16le').swap16());
    write('enc/mark.txt', '\ufeffab\nçneedle\n');
    write('enc/data.bin', 'a\0b\nneedle\n');
    write('enc/empty.txt', '');
    write('enc/large.txt', 'needle\n');
    truncateSync(join(folder, 'enc/large.txt'), 64 * 1024 * 1024 + 1);
    const output = await grep({ query: 'needle', path: 'enc' });
    const shown = { line_number: 2, column: 2, text: 'çneedle' };
    expect(output['matches']).toEqual(['be', 'le', 'mark'].map((name) => ({ path: `enc/${name}.txt`, ...shown })));
    expect(output).toMatchObject({ binary_files: 1, large_files: 1, files_searched: 4, truncated: false });
  });

  test('takes names that would mean something to ripgrep for names', async () => {
    write('odd/-e', 'target\n');
    write('odd/a:1:2:b', 'target\n');
    write('odd/{x}*', 'target\n');
    expect(await places({ query: 'target', path: 'odd' })).toEqual(['odd/-e:1', 'odd/a:1:2:b:1', 'odd/{x}*:1']);
  });

  test.each(['', 'a\nb', 'a\0', '\ud800', 'x'.repeat(1001)])('the query %j is not valid', async (query) => {
    expect(await failure(tools['grep'], { query })).toBe('invalid_pattern');
  });

  test('an expression that is not valid is told with the reason', async () => {
    await expect(grep({ query: '(a', literal: false })).rejects.toThrow(/unclosed group/);
    expect(await failure(tools['grep'], { query: '(a', literal: false })).toBe('invalid_pattern');
  });

  test('ripgrep is killed when the call is stopped', async () => {
    write('slow/0.txt', `${'a'.repeat(100)}\n`.repeat(300_000));
    for (let index = 1; index < 40; index += 1) linkSync(join(folder, 'slow/0.txt'), join(folder, `slow/${index}.txt`));
    const controller = new AbortController();
    const slow = { query: '(a|aa|aaa|b)*[^a]{50}(x|y)', literal: false, path: 'slow' };
    const result = failure(tools['grep'], slow, contextOf({ signal: controller.signal }));
    setTimeout(() => controller.abort(), 100);
    expect(await result).toBe('aborted');
    if (process.platform === 'linux') expect(await childProcesses()).toEqual([]);
  });
});

/** Programs that this process has started and that still run. */
async function childProcesses(): Promise<readonly string[]> {
  const threads = await readdir('/proc/self/task');
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/self/task/${thread}/children`, 'utf8')));
  return lists.flatMap((list) => list.split(' ').filter((child) => child !== ''));
}
