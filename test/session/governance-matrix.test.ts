import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { JsonValue } from '@perdure/events';
import {
  definePlugin,
  PERMISSION,
  TOOLS,
  type BudgetGuard,
  type HookHandler,
  type PermissionDecision,
  type Session,
  type ToolContext,
  type Tools,
} from '@perdure/plugin-api';
import sandboxBubblewrap from '@perdure/sandbox-bubblewrap';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import toolsBatch from '@perdure/tools-batch';
import toolsFiles from '@perdure/tools-files';
import toolsShell from '@perdure/tools-shell';
import { z } from 'zod';
import { storesWith } from '../fixtures/agents.js';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-matrix-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** Ways to a call: the tool that has the effect, and what is asked for so that it is called. */
interface Origin {
  readonly tool: string;
  readonly asked?: { readonly name: string; readonly input: JsonValue };
  readonly host?: 'tool' | 'governedTool';
  readonly input?: JsonValue;
}

const origins: Readonly<Record<string, Origin>> = {
  'a built-in tool': { tool: 'write', input: { file_path: 'effect', content: 'x' } },
  'a nested call': { tool: 'act', asked: { name: 'whole', input: {} } },
  'a batch': { tool: 'act', asked: { name: 'batch', input: { invocations: [{ tool: 'act', args: {} }] } } },
  'a trusted call of the host': { tool: 'act', host: 'tool' },
  'a governed call of the host': { tool: 'act', host: 'governedTool' },
  "a plugin's tool": { tool: 'act_of_plugin' },
  'a shell command': { tool: 'shell_exec', input: { command: 'touch effect' } },
};

/** What stands in the way, and the code of the denial. */
interface Obstacle {
  readonly code: string;
  /** Hosts vouch for their trusted calls: these gates guard against the model. */
  readonly isPassedByTrusted?: true;
  readonly permission?: () => PermissionDecision;
  readonly hook?: HookHandler<'pre_tool_use'>;
  readonly guard?: BudgetGuard['checkBeforeTool'];
}

const never = () => new Promise<never>(() => undefined);
const broken = (): never => {
  throw new Error('broken');
};
const obstacles: Readonly<Record<string, Obstacle>> = {
  'a rule denies': { code: 'PERDURE_TOOL_DENIED', isPassedByTrusted: true, permission: () => ({ decision: 'deny' }) },
  'it is left open and nobody can be asked': {
    code: 'PERDURE_TOOL_NOBODY_TO_ASK',
    isPassedByTrusted: true,
    permission: () => ({ decision: 'ask' }),
  },
  'a hook blocks': { code: 'PERDURE_TOOL_DENIED', hook: () => ({ action: 'block', reason: 'no' }) },
  'a hook throws': { code: 'PERDURE_GATE_FAILED', hook: broken },
  'a hook hangs': { code: 'PERDURE_GATE_FAILED', hook: never },
  'the policy throws': { code: 'PERDURE_GATE_FAILED', isPassedByTrusted: true, permission: broken },
  'the budget denies': {
    code: 'PERDURE_BUDGET_EXHAUSTED',
    guard: ({ toolName }) =>
      isEffect(toolName) ? { decision: 'deny', resource: 'tool_calls', reason: 'spent' } : null,
  },
  'the budget hangs': {
    code: 'PERDURE_BUDGET_EXHAUSTED',
    guard: ({ toolName }) => (isEffect(toolName) ? never() : null),
  },
  nothing: { code: '', isPassedByTrusted: true },
};

const isEffect = (tool: string): boolean => Object.values(origins).some((origin) => origin.tool === tool);

async function sessionWith(origin: Origin, obstacle: Obstacle) {
  const workspace = realpathSync(mkdtempSync(join(base, 'workspace-')));
  let runs = 0;
  const act = { inputSchema: z.object({}), execute: () => (runs += 1) };
  const governance = definePlugin({
    name: 'governance',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [PERMISSION, TOOLS],
    setup: ({ provide }) => {
      const decide = (tool: string): PermissionDecision =>
        tool === origin.tool && obstacle.permission !== undefined ? obstacle.permission() : { decision: 'allow' };
      provide(PERMISSION, { id: 'rules', digest: 'rules', decide: ({ tool }) => decide(tool) });
      provide(TOOLS, { name: 'plugin', tools: () => ({ act_of_plugin: act }) });
      return {};
    },
  });
  const store = new MemoryEventStore();
  const shell = [toolsFiles, toolsShell, sandboxBubblewrap];
  const runtime = await createTestRuntime({ plugins: [storesWith(store), governance, toolsBatch, ...shell] });
  const tools: Tools = {
    act,
    whole: {
      inputSchema: z.object({}),
      execute: async (_: object, { calls }: ToolContext) => (await calls.call('act', {})).status,
    },
  };
  const asked = origin.asked ?? { name: origin.tool, input: origin.input ?? {} };
  const model = new ScriptedModel({
    rules: [{ when: { toolResults: 0 }, answer: { calls: [asked as never] } }, { answer: { text: 'done' } }],
  });
  const agent = runtime.agent({ id: 'clerk', model, tools, workspace });
  const session = await agent.sessions.create({ sessionId: 's' });
  if (obstacle.hook !== undefined) {
    session.registerHook('obstacle', 'pre_tool_use', { tool: origin.tool }, { timeoutMs: 40 }, obstacle.hook);
  }
  if (obstacle.guard !== undefined) session.setBudgetGuard({ timeoutMs: 40, checkBeforeTool: obstacle.guard });
  const executions = () => runs + (existsSync(join(workspace, 'effect')) ? 1 : 0);
  const decisions = async () =>
    (await store.read('session-_.s')).facts
      .filter(({ type }) => type === 'ToolCallDecided')
      .map(({ payload }) => JSON.parse(payload))
      .filter(({ name }) => name === origin.tool);
  return { runtime, session, executions, decisions };
}

async function drive(session: Session, { tool, host, input = {} }: Origin): Promise<void> {
  if (host === undefined) expect((await session.send('go')).text).toBe('done');
  else await session[host](tool, input);
}

describe.each(Object.entries(origins))('%s [P8] [A17]', (name, origin) => {
  test.each(Object.entries(obstacles))('when %s', async (_, obstacle) => {
    const { runtime, session, executions, decisions } = await sessionWith(origin, obstacle);
    await drive(session, origin);
    const passes = obstacle.code === '' || (origin.host === 'tool' && obstacle.isPassedByTrusted === true);
    expect(executions(), name).toBe(passes ? 1 : 0);
    const decided = await decisions();
    expect(decided).toHaveLength(1);
    expect(decided[0]).toMatchObject({ decision: passes ? 'allow' : 'deny' });
    const denials = decided[0].gates.filter(({ decision }: { decision: string }) => decision === 'deny');
    expect(denials.map(({ code }: { code: string }) => code)).toEqual(passes ? [] : [obstacle.code]);
    await runtime.dispose();
  });
});
