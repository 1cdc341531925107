import { afterEach, describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import {
  definePlugin,
  hookPoints,
  HOOKS,
  PERMISSION,
  type Hook,
  type HookEvent,
  type HookHandler,
  type HookOccurrence,
  type HookPayloads,
  type Runtime,
  type Session,
} from '@perdure/plugin-api';
import policyApproval from '@perdure/policy-approval';
import { createPermissionPolicy } from '@perdure/policy-permission';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { z } from 'zod';
import { lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const events = Object.keys(hookPoints) as HookEvent[];
type Gating = { [Event in HookEvent]: (typeof hookPoints)[Event]['isGating'] extends true ? Event : never }[HookEvent];
const isGating = (event: HookEvent): boolean => hookPoints[event].isGating;

const call = (name: string, key: string) => ({ name, input: { key } });
const script: Script = {
  rules: [
    { when: { userTextContains: 'Summarise' }, answer: { text: 'A summary.' } },
    { when: { userTextContains: 'Thanks' }, answer: { text: 'You are welcome.' } },
    { times: 1, answer: { error: { status: 429, message: 'slow down', retryAfter: { seconds: 0 } } } },
    { when: { toolResults: 0 }, answer: { calls: [call('lookup', 'a'), call('other', 'b'), call('broken', 'c')] } },
    { answer: { text: 'done' } },
  ],
};

/** The rules, and hooks that are there before the session is. */
function governance(hooks: readonly Hook[]) {
  return definePlugin({
    name: 'governance',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [PERMISSION, HOOKS],
    setup: ({ provide }) => {
      provide(PERMISSION, createPermissionPolicy({ allow: ['lookup', 'broken'], deny: [], ask: [], default: 'ask' }));
      for (const hook of hooks) provide(HOOKS, hook);
      return {};
    },
  });
}

const labels = { tenantId: 't1', principal: 'p1', agentTemplateId: 'a1', correlationId: 'c1' };
const soft = { decision: 'soft', resource: 'tool_calls', consumed: 9, limit: 10, message: 'near' } as const;
let runtime: Runtime | undefined;
afterEach(() => runtime?.dispose());

async function sessionWith(hooks: readonly Hook[], logged: string[] = []): Promise<Session> {
  const logger = { log: (_: string, message: string) => void logged.push(message) };
  const plugins = [storesWith(new MemoryEventStore()), governance(hooks), policyApproval];
  const started = await createTestRuntime({ plugins, logger });
  runtime = started;
  const tools = {
    lookup: { ...lookupTool(), permissionSubjects: ({ key }: { key: string }) => [key] },
    other: lookupTool([], 'once'),
    broken: { ...lookupTool(), execute: () => Promise.reject(new Error('out of order')) },
  };
  const budgetGuard = { checkBeforeTool: ({ toolName }: { toolName: string }) => (toolName === 'other' ? soft : null) };
  const agent = started.agent({ id: 'clerk', model: new ScriptedModel(script), tools, budgetGuard, workspace: '/w' });
  return agent.sessions.create({ sessionId: 's', ...labels });
}

/** Everything that hooks are told of, once: a prompt, calls, an approval, a summary, the cluster, and the end. */
async function liveThrough(session: Session): Promise<void> {
  const turn = await session.prompt('Find it.');
  await waitUntil(async () => (await session.interactions()).length === 1);
  const [asked] = await session.interactions();
  await session.respond({ id: asked?.id ?? '', decision: 'allow', by: 'ada' });
  expect(await turn.finished).toMatchObject({ success: true, text: 'done' });
  expect(await session.send('Thanks.')).toMatchObject({ success: true });
  expect((await (await session.compact()).finished).success).toBe(true);
  await session.emit({ type: 'peer_invocation', from_session_id: 'x', from_tenant_id: 't2', correlation_id: 'c2' });
  await session.emit({ type: 'passivation_requested', reason: 'node_drain', deadline_ms: 4_000_000_000_000 });
  await waitUntil(async () => (await session.info()).owner === null);
}

const text = expect.any(String) as string;
const number = expect.any(Number) as number;
const usage = expect.objectContaining({ inputTokens: number, outputTokens: number, totalTokens: number }) as never;
const called = (tool: string, key: string) =>
  ({ tool_id: text, tool, args: { key }, working_directory: '/w', origin: 'model' }) as const;

/** What each point tells the first time, to the last field, and whether it is told in a turn. */
const told: { readonly [Event in HookEvent]: readonly [isInTurn: boolean, HookPayloads[Event]] } = {
  session_start: [false, { model_provider: null, model_name: null }],
  pre_prompt: [false, { prompt: 'Find it.', message_count: 0 }],
  generate_start: [
    true,
    {
      prompt: 'Find it.',
      model_provider: text,
      model_name: 'default',
      available_tools: ['lookup', 'other', 'broken', 'ask_user'],
    },
  ],
  generate_end: [
    true,
    {
      response_text: '',
      tool_calls: [
        { name: 'lookup', args: { key: 'a' } },
        { name: 'other', args: { key: 'b' } },
        { name: 'broken', args: { key: 'c' } },
      ],
      usage,
      duration_ms: number,
    },
  ],
  on_rate_limit: [true, { limit_type: 'requests', retry_after_ms: 0 }],
  on_error: [
    true,
    {
      error_type: 'llm_failure',
      error_code: 'PERDURE_MODEL_RATE_LIMITED',
      error_message: text,
      context: { attempt: 1, model: 'default' },
    },
  ],
  pre_tool_use: [true, { ...called('lookup', 'a'), recent_tools: [] }],
  permission_request: [true, called('other', 'b')],
  on_confirmation: [
    true,
    { confirmation_type: 'approval', message: 'May "other" be called? no rule allows it', interaction_id: text },
  ],
  budget_threshold_hit: [true, { resource: 'tool_calls', kind: 'soft', consumed: 9, limit: 10, message: 'near' }],
  post_tool_use: [
    true,
    {
      ...called('lookup', 'a'),
      result: { success: true, status: 'completed', output: 'value of a', duration_ms: number },
    },
  ],
  post_response: [true, { response_text: 'done', tool_calls_count: 3, usage, duration_ms: number }],
  pre_compact: [false, { message_count: 6, used_tokens: number, max_tokens: 200_000 }],
  post_compact: [false, { message_count_before: 6, message_count_after: 4, summary_generated: true }],
  peer_invocation: [false, { from_session_id: 'x', from_tenant_id: 't2', correlation_id: 'c2' }],
  passivation_requested: [false, { reason: 'node_drain', deadline_ms: 4_000_000_000_000 }],
  session_end: [false, { total_tokens: number, total_tool_calls: 3, duration_ms: number }],
};

describe('each hook point', () => {
  test('is told with its whole payload and the labels of the session [A1]', async () => {
    const seen = new Map<HookEvent, HookOccurrence>();
    const handler: HookHandler = (occurrence) => {
      if (!seen.has(occurrence.event_type)) seen.set(occurrence.event_type, occurrence);
    };
    await liveThrough(await sessionWith(events.map((event) => ({ id: event, event, handler }))));
    expect([...seen.keys()].sort()).toEqual([...events].sort());
    const subject = {
      session_id: 's',
      tenant_id: 't1',
      principal: 'p1',
      agent_template_id: 'a1',
      correlation_id: 'c1',
    };
    for (const event of events) {
      const [isInTurn, payload] = told[event];
      const place = isInTurn ? { turn_id: text, run_id: text } : { turn_id: null, run_id: null };
      expect(seen.get(event), event).toEqual({ event_type: event, payload: { ...subject, ...place, ...payload } });
    }
  });
});

const ways: readonly [string, () => unknown][] = [
  [
    'throws',
    () => {
      throw new Error('broken');
    },
  ],
  ['rejects', () => Promise.reject(new Error('broken'))],
  ['hangs', () => new Promise(() => undefined)],
  ['answers nonsense', () => ({ action: 'maybe' })],
];

describe('at points that observe, a hook that', () => {
  test.each([...ways, ['wants to block', () => ({ action: 'block' })] as const])(
    '%s changes nothing',
    async (way, answer) => {
      const met = new Set<HookEvent>();
      const logged: string[] = [];
      const observing = events.filter((event) => !isGating(event));
      const hooks = observing.map((event): Hook => ({
        id: `failing-${event}`,
        event,
        config: { timeoutMs: 10 },
        handler: () => {
          met.add(event);
          return answer() as never;
        },
      }));
      await liveThrough(await sessionWith(hooks, logged));
      expect([...met].sort()).toEqual([...observing].sort());
      const isReported = way === 'throws' || way === 'rejects' || way === 'hangs';
      expect(logged.includes('A hook failed.')).toBe(isReported);
    },
  );
});

/** What is kept from happening at each gating point, and how that is told. */
const blocked: { readonly [Event in Gating]: (session: Session) => Promise<void> } = {
  pre_prompt: async (session) => {
    await expect(session.send('Thanks.')).rejects.toMatchObject({ code: 'PERDURE_PROMPT_BLOCKED' });
    expect((await session.messages()).total).toBe(0);
  },
  pre_tool_use: async (session) => {
    const outcome = await session.governedTool('lookup', { key: 'a' });
    expect(outcome).toMatchObject({ status: 'denied', failure: { code: 'PERDURE_GATE_FAILED' } });
  },
  permission_request: async (session) => {
    const outcome = await session.governedTool('other', { key: 'a' });
    expect(outcome).toMatchObject({ status: 'denied', failure: { code: 'PERDURE_GATE_FAILED' } });
  },
  pre_compact: async (session) => {
    await session.send('Thanks.');
    await session.send('Thanks.');
    const { success, error } = await (await session.compact()).finished;
    expect([success, error?.code]).toEqual([false, 'PERDURE_CHANGE_BLOCKED']);
  },
};

describe.each(Object.keys(blocked) as Gating[])('at the gate %s, a hook that', (event) => {
  test.each(ways)('%s blocks, and the session stays usable [P8]', async (_, answer) => {
    const session = await sessionWith([]);
    session.registerHook('failing', event, null, { timeoutMs: 10 }, answer as () => null);
    await blocked[event](session);
    expect(session.unregisterHook('failing')).toBe(true);
    expect(await session.send('Thanks.')).toMatchObject({ success: true, text: 'You are welcome.' });
  });
});
