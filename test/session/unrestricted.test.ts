import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { JsonValue } from '@perdure/events';
import { ASKER, definePlugin, type Asker, type PluginLike, type Runtime, type Session } from '@perdure/plugin-api';
import policyApproval from '@perdure/policy-approval';
import policyPermission from '@perdure/policy-permission';
import { MemoryEventStore } from '@perdure/store-memory';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import toolsShell from '@perdure/tools-shell';
import { z } from 'zod';
import { storesWith } from '../fixtures/agents.js';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-unrestricted-test-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));
let runtime: Runtime | undefined;
afterEach(() => runtime?.dispose());
let count = 0;

const reason = 'It needs the network.';
const outside = { command: 'touch ran', sandbox: 'unrestricted', reason };
const told = `The command is to run outside the sandbox: ${reason}`;
/** The rules allow every command there is, and still a person must agree to one that runs outside. */
const rules = { plugin: policyPermission, config: { allow: ['shell_exec'] } };
const shell = { plugin: toolsShell, config: { mode: 'unrestricted' } };

async function sessionWith(input: JsonValue, ...plugins: readonly PluginLike[]) {
  const workspace = join(base, `workspace-${count++}`);
  mkdirSync(workspace);
  const store = new MemoryEventStore();
  const started = await createTestRuntime({ plugins: [storesWith(store), rules, shell, ...plugins] });
  runtime = started;
  const call = { name: 'shell_exec', input };
  const model = new ScriptedModel(scriptByRound([{ calls: [call] }, { text: 'done' }]));
  const agent = started.agent({ id: 'coder', model, workspace });
  const session = await agent.sessions.create({ sessionId: 's' });
  const payloads = async (type: string): Promise<readonly JsonValue[]> =>
    (await store.read('session-_.s')).facts
      .filter((fact) => fact.type === type)
      .map((fact) => JSON.parse(fact.payload) as JsonValue);
  return { agent, session, payloads, hasRun: () => existsSync(join(workspace, 'ran')) };
}

function askingWith(asker: Asker): PluginLike {
  return definePlugin({
    name: 'asking',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [ASKER],
    setup: ({ provide }) => {
      provide(ASKER, asker);
      return {};
    },
  });
}

async function answer(session: Session, decision: 'allow' | 'deny'): Promise<void> {
  for (;;) {
    const [asked] = await session.interactions();
    if (asked === undefined) continue;
    expect(asked).toMatchObject({ tool: 'shell_exec', input: outside, reason: told, suggestion: null });
    return session.respond({ id: asked.id, decision, by: 'ada' });
  }
}

describe('a command outside the sandbox', () => {
  test('waits for a person, runs when one agrees, and the fact before it says who and why', async () => {
    const { agent, session, payloads, hasRun } = await sessionWith(outside, policyApproval);
    const turn = await session.prompt('go');
    await answer(session, 'allow');
    expect((await turn.finished).success).toBe(true);
    expect(hasRun()).toBe(true);
    expect(await payloads('ToolCallDecided')).toMatchObject([
      {
        decision: 'allow',
        gates: [
          { gate: 'permission', decision: 'allow', rule: 'shell_exec' },
          { gate: 'approval', decision: 'allow', rule: 'by ada' },
          { gate: 'confirmation', decision: 'allow', reason: told },
        ],
      },
    ]);
    expect(await payloads('ToolCallSettled')).toMatchObject([{ output: { sandbox: 'unrestricted' } }]);
    expect((await agent.replay('s')).difference).toBeUndefined();
  });

  test('does not run when the person says no', async () => {
    const { session, payloads, hasRun } = await sessionWith(outside, policyApproval);
    const turn = await session.prompt('go');
    await answer(session, 'deny');
    await turn.finished;
    expect(hasRun()).toBe(false);
    expect(await payloads('ToolCallStarted')).toEqual([]);
  });

  test('is asked about for each command anew, of whoever is at hand [R29]', async () => {
    const asked: (string | undefined)[] = [];
    const asking = askingWith({
      ask: (_, { reason: why, isConfirmation, suggestion }) => {
        expect([isConfirmation, suggestion]).toEqual([true, undefined]);
        asked.push(why);
        return Promise.resolve(asked.length === 1 ? 'allow' : 'deny');
      },
    });
    const { session, hasRun, payloads } = await sessionWith(outside, asking);
    await session.send('go');
    expect(hasRun()).toBe(true);
    expect(await session.governedTool('shell_exec', outside)).toMatchObject({ status: 'denied' });
    expect(asked).toEqual([told, told]);
    expect((await payloads('ToolCallDecided'))[0]).toMatchObject({
      gates: [{}, { gate: 'approval', decision: 'allow' }, { gate: 'confirmation', reason: told }],
    });
  });

  test.each<[string, object]>([
    ['answers for everyone', { mode: 'always-allow' }],
    ['denies', { mode: 'deny' }],
    ['allows what nobody answers in time', { expiresInMs: 20, onExpiry: 'allow' }],
  ])('is denied under a policy that %s', async (_, config) => {
    const { session, payloads, hasRun } = await sessionWith(outside, { plugin: policyApproval, config });
    expect((await session.send('go')).success).toBe(true);
    expect(hasRun()).toBe(false);
    expect(await payloads('ToolCallSettled')).toMatchObject([{ status: 'denied' }]);
  });

  test('is denied where nobody can be asked, and without a reason [R29]', async () => {
    const { session, hasRun } = await sessionWith(outside);
    await session.send('go');
    const { reason: _, ...unexplained } = outside;
    const outcome = await session.governedTool('shell_exec', unexplained);
    expect(outcome).toMatchObject({ status: 'denied', failure: { code: 'PERDURE_TOOL_INPUT' } });
    expect(hasRun()).toBe(false);
  });

  test('that the host itself runs is recorded with its reason too', async () => {
    const { session, payloads, hasRun } = await sessionWith(outside);
    expect(await session.tool('shell_exec', outside)).toMatchObject({ status: 'completed' });
    expect(hasRun()).toBe(true);
    expect(await payloads('ToolCallDecided')).toMatchObject([
      { origin: 'host', gates: [{ gate: 'confirmation', decision: 'allow', rule: 'by the host', reason: told }] },
    ]);
  });
});
