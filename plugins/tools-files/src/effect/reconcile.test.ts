import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { localWorkspaces } from '../local-workspaces.js';
import {
  call,
  contextOf,
  reconcile,
  temporaryWorkspace,
  type TemporaryWorkspace,
} from '../testing/temporary-workspace.js';

const KEY = 'key-of-the-call';
const change = (old_text: string, new_text: string) => ({ old_text, new_text });

interface Case {
  readonly title: string;
  readonly tool: 'write' | 'edit';
  readonly before: string | undefined;
  readonly input: object;
}

const file = { file_path: 'sub/file.txt' };
const sha256OfSecret = '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b';
const cases: readonly Case[] = [
  { title: 'creates a file', tool: 'write', before: undefined, input: { ...file, content: 'new' } },
  { title: 'creates a file that has the content', tool: 'write', before: 'new', input: { ...file, content: 'new' } },
  { title: 'finds another file', tool: 'write', before: 'old', input: { ...file, content: 'new' } },
  { title: 'replaces', tool: 'write', before: 'old', input: { ...file, content: 'new', overwrite: true } },
  { title: 'makes anew', tool: 'write', before: undefined, input: { ...file, content: 'new', overwrite: true } },
  {
    title: 'expects another version',
    tool: 'write',
    before: 'old',
    input: { ...file, content: 'new', overwrite: true, expected_sha256: '0'.repeat(64) },
  },
  {
    title: 'has too much to write',
    tool: 'write',
    before: 'old',
    input: { ...file, content: 'x'.repeat(2 ** 20 + 1) },
  },
  { title: 'changes a word', tool: 'edit', before: 'one two', input: { ...file, edits: [change('one', '1')] } },
  { title: 'adds a line', tool: 'edit', before: 'a\nb\n', input: { ...file, edits: [change('a\n', 'a\nc\n')] } },
  { title: 'deletes a line', tool: 'edit', before: 'a\nb\n', input: { ...file, edits: [change('a\n', '')] } },
  { title: 'repeats a text', tool: 'edit', before: 'a b b', input: { ...file, edits: [change('a', 'b')] } },
  {
    title: 'changes the expected version',
    tool: 'edit',
    before: 'secret',
    input: { ...file, edits: [change('e', 'E'), change('s', 'S')], expected_sha256: sha256OfSecret },
  },
  { title: 'finds nothing to change', tool: 'edit', before: 'a', input: { ...file, edits: [change('x', 'y')] } },
  { title: 'has no file to change', tool: 'edit', before: undefined, input: { ...file, edits: [change('x', 'y')] } },
];

/** Runs the call once and tells how it ended. */
async function runOnce(workspace: TemporaryWorkspace, { tool, input }: Case, key: string): Promise<unknown> {
  try {
    return { output: await call(workspace.tools[tool], input, contextOf({ key })) };
  } catch (error) {
    return { code: error instanceof Error && 'code' in error ? error.code : error };
  }
}

/** What the runtime does with a call that was started and not settled. */
async function resume(workspace: TemporaryWorkspace, theCase: Case): Promise<unknown> {
  const result = await reconcile(workspace.tools[theCase.tool], theCase.input, KEY);
  if (result.status === 'happened') return { output: result.output };
  return result.status === 'voided' ? runOnce(workspace, theCase, 'another key') : { unknown: true };
}

function prepared({ before }: Case): TemporaryWorkspace {
  const workspace = temporaryWorkspace();
  if (before !== undefined) workspace.write('sub/file.txt', before);
  return workspace;
}

describe('a call that', () => {
  test.each(cases)('$title ends in the same way and the same files when it is resumed', async (theCase) => {
    const undisturbed = prepared(theCase);
    const end = await runOnce(undisturbed, theCase, KEY);
    const digest = await localWorkspaces.digest(undisturbed.folder);

    const diedBefore = prepared(theCase);
    expect(await resume(diedBefore, theCase)).toEqual(end);
    expect(await localWorkspaces.digest(diedBefore.folder)).toBe(digest);

    const diedAfter = prepared(theCase);
    await runOnce(diedAfter, theCase, KEY);
    expect(await resume(diedAfter, theCase)).toEqual(end);
    expect(await localWorkspaces.digest(diedAfter.folder)).toBe(digest);
  });
});

const word = { ...file, edits: [change('one', '1')] };
const line = { ...file, edits: [change('a\n', 'a\nc\n')] };
const deletion = { ...file, edits: [change('a\n', '')] };
const expecting = { ...file, edits: [change('se', 'SE')], expected_sha256: sha256OfSecret };
const replacing = { ...file, content: 'new', overwrite: true };

describe('without the record of a call the content tells', () => {
  test.each([
    ['edit', 'one two', word, 'voided'],
    ['edit', '1 two', word, 'happened'],
    ['edit', 'something else', word, 'voided'],
    ['edit', '1 and 1', word, 'unknown'],
    ['edit', 'a\nb\n', line, 'voided'],
    ['edit', 'a\nc\nb\n', line, 'unknown'],
    ['edit', 'a\nb\n', deletion, 'voided'],
    ['edit', 'b\n', deletion, 'unknown'],
    ['edit', 'secret', expecting, 'voided'],
    ['edit', 'SEcret', expecting, 'happened'],
    ['edit', 'SEcrets', expecting, 'unknown'],
    ['edit', 'a\0b', word, 'voided'],
    ['edit', undefined, word, 'voided'],
    ['write', 'new', replacing, 'happened'],
    ['write', 'old', replacing, 'voided'],
    ['write', undefined, replacing, 'voided'],
    ['write', 'old', { ...file, content: 'new' }, 'voided'],
  ] as const)('%s of %j with %j: %s', async (tool, before, input, status) => {
    const workspace = prepared({ title: '', tool, before, input });
    expect((await reconcile(workspace.tools[tool], input, KEY)).status).toBe(status);
    if (before !== undefined) expect(readFileSync(join(workspace.folder, 'sub/file.txt'), 'utf8')).toBe(before);
  });
});

describe('with the record of a call', () => {
  test.each([
    ['edit', 'one two', word],
    ['write', 'old', replacing],
    ['write', undefined, replacing],
  ] as const)(
    'a %s in %j that something else came after is unknown, and nothing is lost',
    async (tool, before, input) => {
      const workspace = prepared({ title: '', tool, before, input });
      await call(workspace.tools[tool], input, contextOf({ key: KEY }));
      workspace.write('sub/file.txt', 'changed by a person');
      expect(await reconcile(workspace.tools[tool], input, KEY)).toEqual({ status: 'unknown' });
      rmSync(join(workspace.folder, 'sub/file.txt'));
      const status = before === undefined ? 'voided' : 'unknown';
      expect(await reconcile(workspace.tools[tool], input, KEY)).toEqual({ status });
    },
  );

  test('what was put back as it was did not happen', async () => {
    const workspace = prepared({ title: '', tool: 'edit', before: 'one two', input: word });
    await call(workspace.tools['edit'], word, contextOf({ key: KEY }));
    workspace.write('sub/file.txt', 'one two');
    expect(await reconcile(workspace.tools['edit'], word, KEY)).toEqual({ status: 'voided' });
  });
});

test('when the workspace is not there, what happened in it is unknown', async () => {
  const workspace = prepared({ title: '', tool: 'edit', before: 'one two', input: word });
  await call(workspace.tools['edit'], word, contextOf({ key: KEY }));
  rmSync(workspace.folder, { recursive: true });
  expect(await reconcile(workspace.tools['edit'], word, KEY)).toEqual({ status: 'unknown' });
  expect(await reconcile(workspace.tools['write'], replacing, KEY)).toEqual({ status: 'unknown' });
});

test('a path or an input that is refused never took effect', async () => {
  const { tools } = temporaryWorkspace();
  for (const [tool, input] of [
    ['write', { file_path: '../x', content: 'x' }],
    ['write', { file_path: '.', content: 'x' }],
    ['write', { file_path: 'x', content: '\ud800' }],
    ['edit', { file_path: 'x', edits: [] }],
    ['edit', { file_path: 'x' }],
  ] as const) {
    expect(await reconcile(tools[tool], input, KEY)).toEqual({ status: 'voided' });
  }
});
