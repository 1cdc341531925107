import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { JsonValue } from '@perdure/events';
import type { Runtime, Session } from '@perdure/plugin-api';
import sandboxBubblewrap from '@perdure/sandbox-bubblewrap';
import { storeMemory } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import toolsFiles from '@perdure/tools-files';
import toolsShell from '@perdure/tools-shell';
import { allowing } from '../fixtures/agents.js';
import { hasSandbox } from '../fixtures/sandbox.js';

const SECRET = 'the-secret-of-the-host';
const base = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-shell-test-')));
const workspace = join(base, 'workspace');
mkdirSync(join(workspace, '.state'), { recursive: true });
writeFileSync(join(workspace, '.state/store.db'), SECRET);
writeFileSync(join(base, 'secret.txt'), SECRET);
process.env['API_OF_THE_HOST'] = SECRET;

let runtime: Runtime | undefined;
afterEach(() => runtime?.dispose());
afterAll(() => rmSync(base, { recursive: true, force: true }));

async function sessionWith(config: object): Promise<Session> {
  const shell = { plugin: toolsShell, config: { hidden: ['.state'], ...config } };
  runtime = await createTestRuntime({ plugins: [storeMemory, toolsFiles, shell, sandboxBubblewrap] });
  return runtime.agent({ id: 'coder', model: new ScriptedModel([]), workspace }).sessions.create({ sessionId: 's' });
}

async function outputOf(
  session: Session,
  input: Readonly<Record<string, JsonValue>>,
): Promise<Record<string, unknown>> {
  const outcome = await session.tool('shell_exec', input);
  expect(outcome).toMatchObject({ status: 'completed' });
  return (outcome as { output: Record<string, unknown> }).output;
}

test.skipIf(!hasSandbox)(
  'a command of a session works in the workspace and sees nothing else of the machine [R28]',
  async () => {
    const session = await sessionWith({});
    const command = `cat ${base}/secret.txt .state/store.db; env; echo made >made.txt; exit 4`;
    const output = await outputOf(session, { command });
    expect(output).toMatchObject({ exit: { reason: 'exited', code: 4 } });
    expect(JSON.stringify(output)).not.toContain(SECRET);
    expect(readFileSync(join(workspace, 'made.txt'), 'utf8')).toBe('made\n');
  },
);

test.skipIf(!hasSandbox)('its time is limited, and what it said and started is dealt with', async () => {
  const session = await sessionWith({});
  const output = await outputOf(session, { command: 'echo begun; setsid sleep 600 & sleep 600', timeout_ms: 500 });
  expect(output).toMatchObject({ exit: { reason: 'timed_out' }, stdout: 'begun\n' });
  expect(output['duration_ms']).toBeLessThan(1_500);
});

test.skipIf(!hasSandbox)('a gigabyte of output is heard to its end', async () => {
  const session = await sessionWith({ outputBytes: 2048 });
  const output = await outputOf(session, { command: 'yes | head -c 1G; echo end' });
  expect(output).toMatchObject({ exit: { reason: 'exited', code: 0 }, stdout_dropped_bytes: 1024 ** 3 + 4 - 2048 });
  expect(String(output['stdout_tail']).endsWith('y\nend\n')).toBe(true);
});

test.skipIf(!hasSandbox)('limits are told where the system tells them', async () => {
  const session = await sessionWith({ limits: { fileBytes: 1024 * 1024, cpuSeconds: 1 } });
  const full = await outputOf(session, { command: 'head -c 2M /dev/zero >big' });
  expect(full).toMatchObject({ exit: { reason: 'limit', limit: 'file_bytes' } });
  const busy = await outputOf(session, { command: 'while :; do :; done' });
  expect(busy).toMatchObject({ exit: { reason: 'limit', limit: 'cpu_seconds' } });
});

test.skipIf(!hasSandbox)(
  'a stopped turn ends its command within a second, and what it said is in the answer',
  async () => {
    runtime = await createTestRuntime({ plugins: [storeMemory, allowing, toolsShell, sandboxBubblewrap] });
    const input = { command: 'echo begun; touch begun; sleep 600' };
    const model = new ScriptedModel([{ calls: [{ name: 'shell_exec', input }] }]);
    const session = await runtime.agent({ id: 'coder', model, workspace }).sessions.create({ sessionId: 's' });
    const turn = await session.prompt('work');
    while (!existsSync(join(workspace, 'begun'))) await new Promise((resolve) => setTimeout(resolve, 10));
    const begun = performance.now();
    await session.stop();
    expect((await turn.finished).status).toBe('cancelled');
    expect(performance.now() - begun).toBeLessThan(1_000);
    const results = (await session.messages()).items.flatMap((message) =>
      message.role === 'tool' ? message.parts : [],
    );
    expect(JSON.stringify(results)).toContain('"stopped"');
    expect(JSON.stringify(results)).toContain('begun');
  },
);

test('a second runtime without a sandbox refuses the same command [R28]', async () => {
  runtime = await createTestRuntime({ plugins: [storeMemory, toolsShell] });
  const session = await runtime.agent({ id: 'coder', model: new ScriptedModel([]), workspace }).sessions.create();
  const outcome = await session.tool('shell_exec', { command: 'touch bare' });
  expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'PERDURE_SANDBOX_UNAVAILABLE' } });
  expect(existsSync(join(workspace, 'bare'))).toBe(false);
});
