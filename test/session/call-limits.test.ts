import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { AgentLimits, Tools } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { z } from 'zod';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

async function agentOf(script: Script, limits: AgentLimits, others: Tools = {}) {
  const runs: string[] = [];
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
  const tools = { lookup: lookupTool(runs), ...others };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools, limits });
  return { runtime, agent, runs, session: await agent.sessions.create({ sessionId: 's' }) };
}
const lookup = (key: string) => ({ calls: [{ name: 'lookup', input: { key } }] });

describe('a turn ends at a limit, with a reason of its own and never as a success', () => {
  test('when the model asks for the same again and again', async () => {
    const { runtime, agent, session, runs } = await agentOf(
      { rules: [{ answer: lookup('a') }] },
      { maxRepeatedCalls: 2 },
    );
    const result = await session.send('go');
    expect(result).toMatchObject({ success: false, status: 'failed', error: { code: 'PERDURE_TURN_REPEATED_CALLS' } });
    expect(result.error?.message).toContain('lookup');
    // Two that are allowed, one that tells the model, and one that was its last chance.
    expect(runs).toEqual(['a', 'a']);
    const results = (await session.messages()).items.flatMap((m) => (m.role === 'tool' ? m.parts : []));
    expect(results.map(({ failure }) => failure?.code)).toEqual([
      undefined,
      undefined,
      'PERDURE_TOOL_REPEATED',
      'PERDURE_TOOL_REPEATED',
    ]);
    expect((await agent.replay('s')).difference).toBeUndefined();
    // The next turn counts from the beginning.
    expect((await session.send('again')).error?.code).toBe('PERDURE_TURN_REPEATED_CALLS');
    expect(runs).toHaveLength(4);
    await runtime.dispose();
  });

  test('but not when it does something else in between, or takes the hint', async () => {
    const rules = [0, 1, 2, 3, 4].map((toolResults) => ({
      when: { toolResults },
      answer: lookup(toolResults % 2 === 0 ? 'a' : 'b'),
    }));
    const changing = await agentOf({ rules: [...rules, { answer: { text: 'done' } }] }, { maxRepeatedCalls: 1 });
    expect(await changing.session.send('go')).toMatchObject({ success: true, text: 'done' });
    expect(changing.runs).toHaveLength(5);
    await changing.runtime.dispose();
    const same = [0, 1, 2].map((toolResults) => ({ when: { toolResults }, answer: lookup('a') }));
    const hinted = await agentOf({ rules: [...same, { answer: { text: 'I see' } }] }, { maxRepeatedCalls: 2 });
    expect(await hinted.session.send('go')).toMatchObject({ success: true, text: 'I see' });
    expect(hinted.runs).toHaveLength(2);
    await hinted.runtime.dispose();
  });

  test('when its arguments are never JSON', async () => {
    const broken = { calls: [{ name: 'lookup', inputText: '{"key": ' }] };
    const { runtime, agent, session, runs } = await agentOf({ rules: [{ answer: broken }] }, { maxParseFailures: 2 });
    expect(await session.send('go')).toMatchObject({ success: false, error: { code: 'PERDURE_TURN_PARSE_LIMIT' } });
    expect(runs).toEqual([]);
    const answers = (await session.messages()).items.filter(({ role }) => role === 'assistant');
    expect(answers).toHaveLength(3);
    expect((await agent.replay('s')).difference).toBeUndefined();
    await runtime.dispose();
  });

  test('when it goes round too often', async () => {
    const rules = Array.from({ length: 9 }, (_, n) => ({ when: { toolResults: n }, answer: lookup(`k${n}`) }));
    const { runtime, session } = await agentOf({ rules }, { maxSteps: 4 });
    expect(await session.send('go')).toMatchObject({ success: false, error: { code: 'PERDURE_TURN_STEP_LIMIT' } });
    await runtime.dispose();
  });

  test('when models and tools work longer on it than they may', async () => {
    const slow: Tools = {
      slow: {
        inputSchema: z.object({}),
        effect: 'read',
        execute: (_: object, { abortSignal }) =>
          new Promise((_resolve, reject) =>
            abortSignal.addEventListener('abort', () => reject(new Error('told to end'))),
          ),
      },
    };
    const script = {
      rules: [
        { when: { toolResults: 0 }, answer: { calls: [{ name: 'slow', input: {} }] } },
        { answer: { text: 'x' } },
      ],
    };
    const { runtime, agent, session } = await agentOf(script, { maxTurnMs: 60 }, slow);
    const result = await session.send('go');
    expect(result).toMatchObject({ success: false, status: 'failed', error: { code: 'PERDURE_TURN_TIME_LIMIT' } });
    const results = (await session.messages()).items.flatMap((m) => (m.role === 'tool' ? m.parts : []));
    expect(results).toMatchObject([{ status: 'cancelled' }]);
    expect((await agent.replay('s')).difference).toBeUndefined();
    expect(await session.stop()).toMatchObject({ stopped: false });
    await runtime.dispose();
  });
});

test('a call that does not come to its turn in its lane is not run, and the model is told', async () => {
  const running: string[] = [];
  let release = (): void => undefined;
  const held: Tools = {
    hold: {
      inputSchema: z.object({}),
      lane: 'narrow',
      execute: () => {
        running.push('hold');
        return new Promise<string>((resolve) => (release = () => resolve('held')));
      },
    },
    pass: { inputSchema: z.object({}), lane: 'narrow', execute: () => running.push('pass') },
  };
  const runtime = await createTestRuntime({ plugins: [storesWith(new MemoryEventStore()), allowing] });
  const agent = runtime.agent({
    id: 'clerk',
    model: new ScriptedModel([]),
    tools: held,
    lanes: { narrow: { concurrency: 1, timeoutMs: 30 } },
  });
  const session = await agent.sessions.create({ sessionId: 's' });
  const first = session.tool('hold', {});
  while (running.length === 0) await new Promise((resolve) => setTimeout(resolve, 2));
  const kept = await session.tool('pass', {});
  expect(kept).toMatchObject({ status: 'failed', failure: { code: 'PERDURE_TOOL_LANE_TIMEOUT' } });
  release();
  expect((await first).output).toBe('held');
  expect((await session.tool('pass', {})).status).toBe('completed');
  expect(running).toEqual(['hold', 'pass']);
  expect(() => runtime.agent({ id: 'x', model: new ScriptedModel([]), lanes: { a: { concurrency: 0 } } })).toThrow(
    'agent.lanes.a.concurrency',
  );
  await runtime.dispose();
});
