import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { createBubblewrapSandbox } from './index.js';
import { runtimeUsers, temporaryPlaces, testLimits } from './testing/enclosure.js';

// The tests run as whoever runs them; the attempts to escape are tried out as root and as an ordinary user.
const user = runtimeUsers[0] ?? 'ordinary';
const sandbox = createBubblewrapSandbox();

function commandOf(script: string) {
  const { workspace } = temporaryPlaces(user);
  const argv = ['/usr/bin/bash', '-c', script];
  return { argv, workspace, workingDirectory: workspace, environment: {}, limits: testLimits };
}

/** The processes of this machine that have a text in their arguments. */
function processesWith(text: string): readonly string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name)) return false;
    try {
      return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
    } catch {
      return false;
    }
  });
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  for await (const chunk of stream) text += Buffer.from(chunk).toString();
  return text;
}

test('kill ends a tree of all kinds of processes within a second, and nothing is left when it resolves', async () => {
  const script = `
    sleep 98761 & setsid sleep 98762 & nohup sleep 98763 >/dev/null 2>&1 &
    ( ( sleep 98764 & ) & ); (trap '' TERM INT HUP; exec sleep 98765) & setsid bash -c 'sleep 98766 & disown; wait' &
    (while :; do :; done) & echo started; wait`;
  const running = await sandbox.start(commandOf(script));
  const [first] = await Promise.all([running.stdout[Symbol.asyncIterator]().next(), sleep(300)]);
  expect(String(first.value)).toBe('started\n');
  expect(processesWith('9876').length).toBeGreaterThanOrEqual(6);
  const begun = performance.now();
  await running.kill();
  expect(performance.now() - begun).toBeLessThan(1_000);
  expect(processesWith('9876')).toEqual([]);
  expect(await running.exit).toEqual({ code: null, signal: 'SIGKILL' });
  await running.kill();
});

test('what a command leaves in the background ends with it', async () => {
  const script = 'setsid sleep 98771 & nohup sleep 98772 & ( ( sleep 98773 & ) & ); sleep 0.2; echo done';
  const running = await sandbox.start(commandOf(script));
  expect(await running.exit).toEqual({ code: 0, signal: null });
  expect(processesWith('9877')).toEqual([]);
  expect(await textOf(running.stdout)).toBe('done\n');
});

test('a command ends with the runtime, however that dies', async () => {
  const server = join(dirname(fileURLToPath(import.meta.url)), 'testing/command-server.ts');
  const runtime = fork(server, [user], { execArgv: ['--import', 'tsx', '--conditions=@perdure/source'] });
  await once(runtime, 'message');
  runtime.send({ id: 1, command: commandOf('setsid sleep 98781 & sleep 98782') });
  for (let tries = 0; tries < 100 && processesWith('98781').length === 0; tries++) await sleep(50);
  expect(processesWith('98781')).not.toEqual([]);
  runtime.kill('SIGKILL');
  await once(runtime, 'exit');
  for (let tries = 0; tries < 40 && processesWith('9878').length > 0; tries++) await sleep(25);
  expect(processesWith('9878')).toEqual([]);
});

test('output that nobody has read when the command ends is not lost', async () => {
  const running = await sandbox.start(commandOf('echo out; echo error >&2'));
  await running.exit;
  await sleep(20);
  expect(await textOf(running.stdout)).toBe('out\n');
  expect(await textOf(running.stderr)).toBe('error\n');
});

test('codes, missing programs and variables come out as they are', async () => {
  const code = await sandbox.start(commandOf('exit 7'));
  expect(await code.exit).toEqual({ code: 7, signal: null });
  const missing = await sandbox.start({ ...commandOf(''), argv: ['no-such-program'] });
  expect(await missing.exit).toEqual({ code: 127, signal: null });
  const script = 'echo "$GREETING $HOME $TMPDIR $LANG"; pwd; id -un; cd; echo x >file; cat file';
  const running = await sandbox.start({ ...commandOf(script), environment: { GREETING: 'a "b"\n$c' } });
  const lines = (await textOf(running.stdout)).split('\n');
  expect(lines.slice(0, 2)).toEqual(['a "b"', '$c /tmp/home /tmp C.UTF-8']);
  expect(lines.slice(3)).toEqual(['user', 'x', '']);
});

test('neither variables nor paths of the machine are in the arguments of a process', async () => {
  const environment = { GREETING: 'hello-98791' };
  const running = await sandbox.start({ ...commandOf('sleep 98792'), environment });
  expect(processesWith('98792')).not.toEqual([]);
  expect(processesWith('hello-98791')).toEqual([]);
  await running.kill();
});

test.each([
  ['argv', { argv: [] }],
  ['argv', { argv: ['a\0b'] }],
  ['argv', { argv: ['x'.repeat(200_000)] }],
  ['environment.LD_PRELOAD', { environment: { LD_PRELOAD: '/x.so' } }],
  ['environment', { environment: { 'A=B': 'c' } }],
  ['environment.A', { environment: { A: 'b\0' } }],
  ['limits.processes', { limits: { ...testLimits, processes: 0 } }],
  ['workspace', { workspace: 'relative' }],
  ['workspace', { workspace: '/a/../b' }],
  ['hidden', { hidden: ['relative'] }],
])('a command that is wrong at %s is refused', async (field, wrong) => {
  const started = sandbox.start({ ...commandOf('true'), ...wrong });
  await expect(started).rejects.toMatchObject({ code: 'PERDURE_INPUT_INVALID', data: { field } });
});

test.each(['/', '/usr', '/etc', '/tmp', '/proc/self/cwd', '/dev/shm', '/sys/fs'])(
  '%s is no workspace',
  async (path) => {
    const started = sandbox.start({ ...commandOf('true'), workspace: path, workingDirectory: path });
    await expect(started).rejects.toMatchObject({ code: 'PERDURE_SANDBOX_PATH' });
  },
);

test('folders and hidden paths outside the workspace are refused', async () => {
  const { outside } = temporaryPlaces(user);
  const refused = { code: 'PERDURE_SANDBOX_PATH' };
  await expect(sandbox.start({ ...commandOf('true'), workingDirectory: outside })).rejects.toMatchObject(refused);
  await expect(sandbox.start({ ...commandOf('true'), hidden: [outside] })).rejects.toMatchObject(refused);
});
