import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { call, failure, shellToolOf, temporaryWorkspace, type ShellOutput } from '../testing/temporary-workspace.js';

function run(command: string, more: object = {}, signal?: AbortSignal): Promise<ShellOutput> {
  const { workspace } = temporaryWorkspace();
  const tool = shellToolOf({ mode: 'unrestricted', outputBytes: 4096 }, workspace);
  return call(tool, { command, sandbox: 'unrestricted', reason: 'a test', ...more }, signal);
}

/** The processes of this machine that have a text in their arguments. */
function processesWith(text: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

const TREE = (name: string): string =>
  `sleep ${name}1 & setsid sleep ${name}2 & nohup sleep ${name}3 >/dev/null 2>&1 & ( (sleep ${name}4 & ) & ); ` +
  `(trap '' TERM; exec sleep ${name}5) & sleep 0.3; echo started`;

describe('a command outside the sandbox', () => {
  test('is told with its output, its code and its duration', async () => {
    const output = await run('echo out; echo error >&2; pwd; exit 3');
    expect(output).toMatchObject({ exit: { reason: 'exited', code: 3 }, stderr: 'error\n' });
    expect(output.stdout).toMatch(/^out\n.*workspace\n$/);
    expect(output.duration_ms).toBeGreaterThanOrEqual(0);
  });

  test('sees no more of the environment than others', async () => {
    process.env['SECRET_OF_THE_HOST'] = 'secret';
    const { stdout } = await run('env');
    const names = stdout.split('\n').map((line) => line.split('=')[0]);
    const usual = ['HOME', 'LANG', 'PATH', 'PERDURE_CALL_ID', 'PWD', 'TMPDIR', 'OLDPWD', 'SHLVL', '_', ''];
    expect(names.filter((name) => !usual.includes(name ?? ''))).toEqual([]);
  });

  test('has no input', async () => {
    expect((await run('read -r line; echo "<$line>"; cat')).stdout).toBe('<>\n');
  });

  test('that ends by a signal is told so', async () => {
    expect((await run('kill -SEGV $$')).exit).toEqual({ reason: 'signal', signal: 'SIGSEGV' });
  });

  test('ends with all that it started when its time is over, and what it said is kept', async () => {
    const begun = performance.now();
    const output = await run(`${TREE('8711')}; sleep 87119`, { timeout_ms: 700 });
    expect(performance.now() - begun).toBeLessThan(1_700);
    expect(output).toMatchObject({ exit: { reason: 'timed_out' }, stdout: 'started\n' });
    expect(processesWith('8711')).toEqual([]);
  });

  test('ends with all that it started when the call is stopped, within a second', async () => {
    const controller = new AbortController();
    const running = run(`${TREE('8712')}; sleep 87129`, {}, controller.signal);
    await sleep(600);
    const begun = performance.now();
    controller.abort();
    const output = await running;
    expect(performance.now() - begun).toBeLessThan(1_000);
    expect(output).toMatchObject({ exit: { reason: 'stopped' }, stdout: 'started\n' });
    expect(processesWith('8712')).toEqual([]);
  });

  test('leaves nothing in the background', async () => {
    const output = await run(TREE('8713'));
    expect(output).toMatchObject({ exit: { reason: 'exited', code: 0 }, stdout: 'started\n' });
    expect(output.duration_ms).toBeLessThan(5_000);
    expect(processesWith('8713')).toEqual([]);
  });

  test('that is stopped before it begins is not begun', async () => {
    const { workspace } = temporaryWorkspace();
    const tool = shellToolOf({ mode: 'unrestricted' }, workspace);
    const input = { command: 'echo ran >ran', sandbox: 'unrestricted', reason: 'a test' };
    expect(await failure(tool, input, AbortSignal.abort())).toBe('aborted');
    expect(readdirSync(workspace)).toEqual([]);
  });

  test('that cannot be started says so', async () => {
    const { workspace } = temporaryWorkspace();
    const tool = shellToolOf({ mode: 'unrestricted', shell: join(workspace, 'no-shell') }, workspace);
    expect(await failure(tool, { command: 'x', sandbox: 'unrestricted', reason: 'a test' })).toBe('start_failed');
  });

  test('that says a gigabyte is heard to its end in little memory', async () => {
    const before = process.memoryUsage().rss;
    const output = await run('yes | head -c 1G; echo end');
    expect(output.exit).toEqual({ reason: 'exited', code: 0 });
    expect(output.stdout).toHaveLength(2048);
    expect(output.stdout_tail?.endsWith('y\nend\n')).toBe(true);
    expect(output.stdout_dropped_bytes).toBe(1024 ** 3 + 4 - 4096);
    expect(process.memoryUsage().rss - before).toBeLessThan(300 * 1024 * 1024);
  });

  test('that says what is no text is still told as text', async () => {
    const { stdout } = await run(`printf 'a\\377\\033[31mb\\000c\\n'`);
    expect(stdout).toBe('a\\xff\\x1b[31mb\\x00c\n');
  });
});
