import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { root } from '../architecture/workspace.js';

const home = mkdtempSync(join(tmpdir(), 'perdure-start-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** What `npm start` runs, on a machine without settings. */
function start(): Promise<{ readonly code: number | null; readonly out: string; readonly error: string }> {
  const { PATH = '' } = process.env;
  const args = ['--import', 'tsx', '--conditions=@perdure/source', 'tools/demo/src/main.ts'];
  const child = spawn(process.execPath, args, { cwd: root, env: { PATH, HOME: home, TMPDIR: home } });
  const printed = { out: '', error: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.error += text));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, ...printed })));
}

test('npm start shows the main job without a key, checks what came of it, and leaves nothing behind', async () => {
  const { code, out, error } = await start();
  expect(error).toBe('');
  const titles = [
    'An agent session that outlasts its process',
    'Here the process gets SIGKILL',
    '[completed] announce',
    'The test passes',
    'perdure sessions show demo',
    'tool announce completed',
    'perdure sessions events demo --facts',
    'OwnershipTaken (owner-dead)',
    'perdure sessions verify demo',
    'verified: ',
    'perdure sessions replay demo --verify',
    'no difference',
    'perdure run "What does this project do?" --base-url',
    'All of this was checked, and it holds',
  ];
  const places = titles.map((title) => out.indexOf(title));
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expect(places).not.toContain(-1);
  expect(code).toBe(0);
  expect(readdirSync(home).filter((name) => name.startsWith('perdure-demo-'))).toEqual([]);
}, 120_000);
