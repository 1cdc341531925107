import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { EventEnvelopeV1 } from '@perdure/events';
import { isPerdureError, type Session } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

/** What a reader has been shown: deltas of text joined, everything else by type. */
function shown(events: readonly EventEnvelopeV1[]): string[] {
  const lines: string[] = [];
  for (const { type, payload } of events) {
    const isText = type === 'text_delta' || type === 'reasoning_delta';
    const last = lines.at(-1);
    if (isText && last?.startsWith(`${type}:`) === true) lines[lines.length - 1] = last + String(payload['text']);
    else lines.push(`${type}:${String(payload['text'] ?? payload['id'] ?? payload['step_id'] ?? '')}`);
  }
  return lines;
}

async function readAll(session: Session, until: string, from?: string): Promise<EventEnvelopeV1[]> {
  const events: EventEnvelopeV1[] = [];
  for await (const event of session.events(from === undefined ? {} : { from })) {
    events.push(event);
    if (event.type === until) break;
  }
  return events;
}

function cursorOf(event: EventEnvelopeV1 | undefined): string {
  return String(event?.metadata?.['cursor']);
}

async function start(store: MemoryEventStore, model: ScriptedModel, nodeId: string) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], env: { nodeId } });
  const agent = runtime.agent({ id: 'clerk', model, tools: { lookup: lookupTool() } });
  await agent.ready();
  return { runtime, agent };
}

const rounds = scriptByRound([
  ...Array.from({ length: 30 }, (_, i) => ({
    reasoning: `thinking about ${i}`,
    text: `step ${i} of many`,
    deltas: 3,
    calls: [
      { name: 'lookup', input: { key: String(i) } },
      { name: 'lookup', input: { key: `${i}b` } },
    ],
  })),
  { text: 'all done now', deltas: 5 },
]);

describe('the events of a session [P13]', () => {
  test('are the same whether read live, late, or with a new connection after every event', async () => {
    const store = new MemoryEventStore();
    const { runtime, agent } = await start(store, new ScriptedModel(rounds), 'node-a');
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    const live = await readAll(session, 'agent_end');
    await turn.finished;
    const late = await readAll(session, 'agent_end');
    expect(live.length).toBeGreaterThan(300);
    expect(shown(late)).toEqual(shown(live));

    const reconnected: EventEnvelopeV1[] = [];
    for (;;) {
      const from = reconnected.length === 0 ? undefined : cursorOf(reconnected.at(-1));
      for await (const event of session.events(from === undefined ? {} : { from })) {
        reconnected.push(event);
        break;
      }
      if (reconnected.at(-1)?.type === 'agent_end') break;
    }
    expect(reconnected.map(({ type, payload }) => [type, payload])).toEqual(
      late.map(({ type, payload }) => [type, payload]),
    );
    // A live reader was given smaller pieces; each of its cursors leads to exactly what it had not been given.
    for (const [index, event] of live.entries()) {
      if (index % 7 !== 0 || index === live.length - 1) continue;
      const rest = await readAll(session, 'agent_end', cursorOf(event));
      expect(shown([...live.slice(0, index + 1), ...rest])).toEqual(shown(live));
    }
    await runtime.dispose();
  });

  test('go on in the middle of an answer that grows, for readers of this process and of another', async () => {
    const store = new MemoryEventStore();
    const text = Array.from({ length: 40 }, (_, i) => `word${i} `);
    const model = new ScriptedModel([{ text: text.join(''), deltas: text, deltaDelayMs: 10 }]);
    const { runtime, agent } = await start(store, model, 'node-a');
    const other = await start(store, new ScriptedModel([]), 'node-b');
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('tell');
    const remote = await other.agent.sessions.get('s');
    const [here, there] = await Promise.all([reconnecting(session), reconnecting(remote)]);
    await turn.finished;
    const whole = shown(await readAll(session, 'agent_end'));
    expect(shown(here)).toEqual(whole);
    expect(shown(there)).toEqual(whole);
    expect(here.filter(({ type }) => type === 'text_delta').length).toBe(40);
    expect(there.filter(({ type }) => type === 'text_delta').length).toBeGreaterThan(3);
    await other.runtime.dispose();
    await runtime.dispose();
  });

  test('are refused for a cursor of another session, and end when the session is closed', async () => {
    const { runtime, agent } = await start(new MemoryEventStore(), new ScriptedModel([{ text: 'x' }]), 'node-a');
    const session = await agent.sessions.create();
    await session.send('x');
    for (const from of ['nonsense', '99999', '-2', '3~1']) {
      await expect(readAll(session, 'x', from)).rejects.toSatisfy((error) =>
        isPerdureError(error, 'PERDURE_CURSOR_INVALID'),
      );
    }
    const reading = readAll(session, 'never');
    await session.close();
    expect((await reading).at(-1)?.type).toBe('ownership_released');
    await runtime.dispose();
  });

  test('of a stream are those of its turn, and a reader who leaves cancels nothing [P7] [A13]', async () => {
    const { runtime, agent } = await start(new MemoryEventStore(), new ScriptedModel(rounds), 'node-a');
    const session = await agent.sessions.create();
    const stream = session.stream('go');
    for await (const event of stream) if (event.type === 'text_delta') break;
    await expect(session.send('too early')).rejects.toSatisfy((error) => isPerdureError(error, 'PERDURE_SESSION_BUSY'));
    expect((await stream.finished).text).toBe('all done now');
    const types: string[] = [];
    const again = session.stream('go');
    for await (const event of again) types.push(event.type);
    expect(types[0]).toBe('prompt_accepted');
    expect(types.at(-1)).toBe('agent_end');
    expect(await again.finished).toMatchObject({ success: true });
    await runtime.dispose();
  });
});

/** Reads to the end with a new connection after every third event. */
async function reconnecting(session: Session): Promise<EventEnvelopeV1[]> {
  const events: EventEnvelopeV1[] = [];
  while (events.at(-1)?.type !== 'agent_end') {
    const from = events.at(-1);
    let count = 0;
    for await (const event of session.events(from === undefined ? {} : { from: cursorOf(from) })) {
      events.push(event);
      if (event.type === 'agent_end' || ++count === 3) break;
    }
  }
  return events;
}
