import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { factLine, factsHeader, openExchangeFile } from './exchange-file.js';

const folder = mkdtempSync(join(tmpdir(), 'exchange-file-'));
afterAll(() => rmSync(folder, { recursive: true }));

const stored = { stream: 'session-_.s', position: '7', type: 'SessionCreated', payload: '{}', metadata: '{}' };
const fact = { ...stored, revision: 1, id: 'b' };
const lineOf = (members: object): string => JSON.stringify({ ...fact, ...members });

/** The facts of a file whose third line is this. */
async function read(line: string): Promise<readonly unknown[]> {
  const file = join(folder, 'facts.jsonl');
  const first = factLine({ ...fact, revision: 0, id: 'a' });
  const header = JSON.stringify(factsHeader({ id: 's' }, 1, 'a'.repeat(64)));
  writeFileSync(file, [header, first, line, ''].join('\n'));
  const opened = await openExchangeFile(file);
  const facts: unknown[] = [];
  if (opened.kind === 'facts') for await (const one of opened.facts()) facts.push(one);
  return facts;
}

describe('a line of a file of facts', () => {
  test('is a stored fact', async () => {
    const { stream: _, position: __, ...exported } = fact;
    expect(await read(factLine(fact))).toEqual([{ ...exported, revision: 0, id: 'a' }, exported]);
  });

  test.each([
    ['a member that is misspelt', lineOf({}).replace('"stream"', '"strebm"'), 'line 3.strebm'],
    ['a needed member that is misspelt', lineOf({}).replace('"payload"', '"payloads"'), 'line 3.payloads'],
    ['a member too much', lineOf({ more: 1 }), 'line 3.more'],
    ['a member of another kind', lineOf({ revision: '1' }), 'line 3.revision'],
    ['a member that is missing', lineOf({ metadata: undefined }), 'line 3.metadata'],
    ['another stream', lineOf({ stream: 'session-_.t' }), 'line 3.stream'],
    ['no object', '7', 'line 3'],
    ['no JSON', '{', 'line 3'],
  ])('with %s names the line and the member', async (_, line, field) => {
    await expect(read(line)).rejects.toMatchObject({ code: 'PERDURE_INPUT_INVALID', data: { field } });
  });
});
