import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { Agent, AgentOptions, Session, TurnHandle } from '@perdure/plugin-api';
import { storeMemory } from '@perdure/store-memory';
import { ScriptedModel, type ScriptedAnswer } from '@perdure/testing';
import { allowing, lookupTool } from '../fixtures/agents.js';

const lookingUp: ScriptedAnswer = { calls: [{ name: 'lookup', input: { key: 'a' } }] };
const silent: ScriptedAnswer = { text: 'it says no more', deltas: 4, stallAfter: 1 };

interface Ground {
  readonly agent: Agent;
  readonly session: Session;
}

interface End {
  readonly when: string;
  /** Without any the agent has no model. */
  readonly answers?: readonly ScriptedAnswer[];
  readonly told: object;
  readonly act?: (ground: Ground, turn: TurnHandle) => Promise<unknown>;
}

const ends: readonly End[] = [
  { when: 'it is answered', answers: [{ text: 'well' }], told: { success: true, status: 'completed', text: 'well' } },
  {
    when: 'its provider refuses',
    answers: [{ error: { status: 401 } }],
    told: { status: 'failed', error: { code: 'PERDURE_MODEL_AUTHENTICATION' } },
  },
  { when: 'it has no model', told: { status: 'failed', error: { code: 'PERDURE_MODEL_MISSING' } } },
  {
    when: 'it needs more steps than it may take',
    answers: [lookingUp, lookingUp, lookingUp],
    told: { status: 'failed', error: { code: 'PERDURE_TURN_STEP_LIMIT' } },
  },
  {
    when: 'it is stopped',
    answers: [silent],
    told: { status: 'cancelled', error: { code: 'PERDURE_TURN_STOPPED' } },
    act: (_, turn) => turn.stop(),
  },
  {
    when: 'its session is closed',
    answers: [silent],
    told: { status: 'suspended' },
    act: ({ session }) => session.close(),
  },
  {
    when: 'its agent is disposed',
    answers: [silent],
    told: { status: 'suspended' },
    act: ({ agent }) => agent.dispose(),
  },
];

describe('a prompt gives the handle of a turn at once, and its end resolves when', () => {
  test.each(ends)('$when [R2]', async ({ answers, told, act }) => {
    const runtime = await createTestRuntime({ plugins: [storeMemory, allowing] });
    const options: Omit<AgentOptions, 'id'> = {
      ...(answers === undefined ? {} : { model: new ScriptedModel(answers) }),
      tools: { lookup: lookupTool() },
      limits: { maxSteps: 2 },
    };
    const agent = runtime.agent({ id: 'clerk', ...options });
    const session = await agent.sessions.create();
    const turn = await session.prompt('go');
    expect(turn.id).not.toBe('');
    if (act !== undefined) await act({ agent, session }, turn);
    const result = await turn.finished;
    expect(result).toMatchObject({ success: false, turnId: turn.id, ...told });
    // What went wrong is told by a code, never by prose alone.
    if (!result.success) expect(result.error).toMatchObject({ code: expect.stringMatching(/^PERDURE_/) as unknown });
    await runtime.dispose();
  });

  test('it is taken back before it began [R2]', async () => {
    const runtime = await createTestRuntime({ plugins: [storeMemory, allowing] });
    const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel([silent]) });
    const session = await agent.sessions.create();
    const running = await session.prompt('go');
    const waiting = await session.prompt({ query: 'then', whenBusy: 'queue' });
    await session.stop();
    expect(await waiting.finished).toMatchObject({ success: false, status: 'cancelled', turnId: waiting.id });
    expect(await running.finished).toMatchObject({ success: false, status: 'cancelled' });
    await runtime.dispose();
  });
});
