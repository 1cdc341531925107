import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { defaultPath as defaultStorePath } from '@perdure/store-sqlite';

const folder = mkdtempSync(join(tmpdir(), 'perdure-readme-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const examples = Array.from(readme.matchAll(/```ts\n(.*?)```/gs), ([, example = '']) => example);

test.each([
  [0, /^[0-9a-f-]{36} completed: It holds two files\.\n$/],
  [1, /^completed: Paid\.\n$/],
  [2, /^n-session-1\n$/],
])('example %i of the README runs in a process of its own and keeps its session', async (index, expected) => {
  const example = examples[index] ?? '';
  const workspace = join(folder, `workspace-${index}`);
  mkdirSync(workspace);
  symlinkSync(fileURLToPath(new URL('../../../node_modules', import.meta.url)), join(workspace, 'node_modules'));
  writeFileSync(join(workspace, 'example.mts'), example);
  const { stdout, stderr } = await promisify(execFile)(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), '--conditions=@perdure/source', 'example.mts'],
    { cwd: workspace, env: { ...process.env, XDG_STATE_HOME: join(folder, 'state') } },
  );
  expect(stderr).toBe('');
  expect(stdout).toMatch(expected);
  const path = defaultStorePath({ XDG_STATE_HOME: join(folder, 'state') });
  expect(readFileSync(path).subarray(0, 15).toString()).toBe('SQLite format 3');
});
