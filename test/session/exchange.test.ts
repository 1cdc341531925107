import { afterEach, describe, expect, test } from 'vitest';
import { loadSession, restoreStream, takeSnapshot, verifySession, type PerdureRuntime } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import { readSnapshot, sessionStream, type RecordedFact, type SessionSnapshotV1 } from '@perdure/events';
import { ARTIFACT_STORE, isPerdureError, type Agent, type EventStore, type Session } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

const runtimes: PerdureRuntime[] = [];
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.dispose();
});

const lookup = () =>
  new ScriptedModel({
    rules: [
      { when: { toolResults: 0 }, answer: { calls: [{ name: 'lookup', input: { key: 'k' } }] } },
      { answer: { text: 'It is there.' } },
    ],
  });

interface Started {
  readonly runtime: PerdureRuntime;
  readonly agent: Agent;
  readonly store: EventStore;
  readonly model: ScriptedModel;
}

async function start(store: EventStore = new MemoryEventStore(), secrets?: Record<string, string>): Promise<Started> {
  const runtime = await createTestRuntime({
    plugins: [storesWith(store), allowing],
    ...(secrets === undefined ? {} : { secrets }),
  });
  runtimes.push(runtime);
  const model = lookup();
  const agent = runtime.agent({ id: 'a', model, tools: { lookup: lookupTool() } });
  await agent.ready();
  return { runtime, agent, store, model };
}

async function talk({ agent }: Started, id = 's'): Promise<Session> {
  const session = await agent.sessions.create({ sessionId: id, tenantId: 'acme', principal: 'maria' });
  expect(await session.send('Is it there?')).toMatchObject({ status: 'completed' });
  return session;
}

async function snapshotOf({ runtime }: Started, id = 's'): Promise<SessionSnapshotV1> {
  const { store, facts } = runtime.services;
  return takeSnapshot({ store, facts }, { id }, await loadSession(store, sessionStream({ id }), facts));
}

async function factsOf(store: EventStore, id = 's'): Promise<readonly RecordedFact[]> {
  return (await store.read(sessionStream({ id }))).facts;
}

const codeOf = async (work: () => Promise<unknown>): Promise<unknown> => {
  try {
    await work();
    return 'no error';
  } catch (error) {
    return isPerdureError(error) ? [error.code, error.data['field']] : error;
  }
};

describe('a snapshot', () => {
  test('is valid, the same bytes for the same stream, and tells every fact once', async () => {
    const place = await start();
    await talk(place);
    const snapshot = await snapshotOf(place);
    expect(readSnapshot(JSON.parse(JSON.stringify(snapshot)))).toMatchObject({ ok: true });
    const other = await start(place.store);
    expect(JSON.stringify(await snapshotOf(other))).toBe(JSON.stringify(snapshot));
    const facts = await factsOf(place.store);
    expect(snapshot.trace_events.map(({ sequence, kind }) => [sequence, kind])).toEqual(
      facts.map(({ revision, type }) => [revision, type]),
    );
    expect(snapshot.session).toMatchObject({ tenant_id: 'acme', principal: 'maria', state: 'Completed' });
    expect(snapshot.run_records).toMatchObject([{ session_id: 's', status: 'completed', result_text: 'It is there.' }]);
    for (const id of snapshot.deferred ?? []) expect([id, emptyAt(snapshot, id)]).toEqual([id, true]);
  });

  test('is kept under a key of its tenant', async () => {
    const place = await start();
    await (await talk(place)).save();
    const { snapshots } = place.runtime.services;
    expect(await snapshots?.list()).toEqual(['_.s']);
    expect((await snapshots?.load('_.s'))?.session.messages).toHaveLength(4);
  });
});

/** Whether the member of an id such as `session.tasks` says nothing. */
function emptyAt(snapshot: SessionSnapshotV1, id: string): boolean {
  let value: unknown = snapshot;
  for (const name of id.split('.')) value = (value as Record<string, unknown>)[name];
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

describe('an import', () => {
  test('makes a session that goes on in another store, with what models saw before', async () => {
    const place = await start();
    await talk(place);
    const snapshot = await snapshotOf(place);
    const elsewhere = await start();
    const session = await elsewhere.agent.sessions.import(snapshot);
    expect(session.id).toBe('s');
    expect(session.principal).toBe('maria');
    const { items } = await session.messages();
    expect(items.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant']);
    await session.send('And now?');
    const seen = JSON.stringify(elsewhere.model.calls.at(-1));
    for (const text of ['Is it there?', 'value of k', 'It is there.', 'And now?']) expect(seen).toContain(text);
    const [first] = await factsOf(elsewhere.store);
    expect(JSON.parse(first?.payload ?? '')).toMatchObject({
      imported: { sessionId: 's', messages: 4, revision: snapshot.session.revision, hash: snapshot.session.hash },
    });
    await verifySession(elsewhere.store, { id: 's' });
  });

  test('is the same session again, and another one beside a session of its id', async () => {
    const place = await start();
    await talk(place);
    const snapshot = await snapshotOf(place);
    const made = await place.agent.sessions.import(snapshot);
    expect(made.id).toMatch(/^s-[0-9a-f]{12}$/);
    const before = await factsOf(place.store, made.id);
    const again = await (await start(place.store)).agent.sessions.import(JSON.parse(JSON.stringify(snapshot)));
    expect(again.id).toBe(made.id);
    expect(await factsOf(place.store, made.id)).toEqual(before);
    const taken = () => place.agent.sessions.import(snapshot, { sessionId: 's' });
    expect(await codeOf(taken)).toEqual(['PERDURE_SESSION_EXISTS', undefined]);
  });

  test('that ten make at the same moment is one session', async () => {
    const store = new MemoryEventStore();
    const place = await start();
    await talk(place);
    const snapshot = await snapshotOf(place);
    const agents = await Promise.all([start(store), start(store), start(store)]);
    const made = await Promise.all([...agents, ...agents].map(({ agent }) => agent.sessions.import(snapshot)));
    expect(new Set(made.map(({ id }) => id))).toEqual(new Set(['s']));
    expect((await factsOf(store)).map(({ type }) => type)).toEqual(['SessionCreated', 'MessagesImported']);
  });

  test('that broke off is no session to run and is listed as such; repeated, it goes on', async () => {
    const snapshot = longSnapshot(60);
    const store = new MemoryEventStore();
    const append = store.append.bind(store);
    let appends = 0;
    store.append = (...args) => {
      if (args[0] === 'session-_.long' && ++appends === 3) throw new Error('gone');
      return append(...args);
    };
    const broken = await start(store);
    expect(await codeOf(() => broken.agent.sessions.import(snapshot))).toEqual([
      'PERDURE_STORE_UNAVAILABLE',
      undefined,
    ]);
    const { agent } = await start(store);
    expect((await agent.sessions.list()).items).toMatchObject([{ id: 'long', status: 'importing' }]);
    const half = await agent.sessions.get('long');
    expect(await codeOf(() => half.send('Go on.'))).toEqual(['PERDURE_SESSION_IMPORTING', undefined]);
    expect(await codeOf(() => half.tool('lookup', { key: 'k' }))).toEqual(['PERDURE_SESSION_IMPORTING', undefined]);
    const whole = await agent.sessions.import(snapshot);
    expect((await whole.messages()).total).toBe(60);
    expect((await agent.sessions.list()).items).toMatchObject([{ id: 'long', status: 'idle', messages: 60 }]);
    expect(await whole.send('Go on.')).toMatchObject({ status: 'completed' });
    await verifySession(store, { id: 'long' });
  });

  test('puts what is too long for a fact into the artifact store, without a registered secret', async () => {
    const secret = 'hunter2-hunter2-hunter2';
    const { agent, runtime, store } = await start(undefined, { password: secret });
    const text = `${'x'.repeat(300_000)}${secret}${'y'.repeat(300_000)}`;
    const session = await agent.sessions.import(longSnapshot(1, text));
    const facts = await factsOf(store, 'long');
    expect(Math.max(...facts.map(({ payload }) => payload.length))).toBeLessThan(140_000);
    const { artifacts } = JSON.parse(facts[1]?.payload ?? '') as { artifacts: { digest: string; bytes: number }[] };
    const kept = await runtime.services.container.get(ARTIFACT_STORE).get(undefined, artifacts[0]?.digest ?? '');
    const whole = Buffer.from(kept ?? []).toString();
    expect(whole).toContain('x'.repeat(1_000));
    expect((await session.artifact(artifacts[0]?.digest ?? ''))?.length).toBe(artifacts[0]?.bytes);
    expect(`${whole}${JSON.stringify(facts)}`).not.toContain(secret);
    expect(JSON.stringify((await session.messages()).items)).toContain(artifacts[0]?.digest);
  });

  test('settles calls that nobody will settle, and hides what was summed up', async () => {
    const { agent, model } = await start();
    const call = { type: 'tool-call', callId: 'c', name: 'pay', input: {} } as const;
    const about = { id: 'open', sequence: 3, revision: 1, turnId: 't', createdAt: 1 };
    const answer = { ...about, role: 'assistant', status: 'complete', parts: [call] } as const;
    const base = longSnapshot(2);
    const messages = [...base.session.messages, answer];
    const session = { ...base.session, messages, context_summary: 'They greeted.', context_hidden: [1, 2] };
    const imported = await agent.sessions.import({ ...base, session });
    const last = (await imported.messages()).items.at(-1);
    expect(last).toMatchObject({ role: 'tool', parts: [{ callId: 'imported-c', status: 'unknown' }] });
    await imported.send('Next.');
    const seen = JSON.stringify(model.calls.at(-1));
    expect(seen).toContain('They greeted.');
    expect(seen).toContain('PERDURE_TOOL_UNKNOWN_OUTCOME');
    expect(seen).not.toContain('message 1 of');
  });

  test('takes a session of another system, which has messages of roles and contents', async () => {
    const { agent, model } = await start();
    const session = await agent.sessions.import({
      id: 'theirs',
      config: { name: 'x', workspace: '/etc' },
      messages: [
        { role: 'user', content: 'Read it.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'read', input: { path: 'a' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: 'Contents of a.' }] },
        { role: 'assistant', content: 'Done.' },
      ],
      total_usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    });
    expect(await session.info()).toMatchObject({ id: 'theirs', workspace: null, messages: 4 });
    await session.send('Again.');
    expect(JSON.stringify(model.calls.at(-1))).toContain('Contents of a.');
  });

  test('of what is no snapshot names the field, and leaves nothing', async () => {
    const { agent, store } = await start();
    const base = longSnapshot(1);
    const wrong = { ...base, session: { ...base.session, messages: [{ role: 'user' }] } };
    expect(await codeOf(() => agent.sessions.import(wrong))).toEqual([
      'PERDURE_SNAPSHOT_INVALID',
      'session.messages.0.id',
    ]);
    const parent = () => agent.sessions.import(base, { parent: 'p' });
    expect(await codeOf(parent)).toEqual(['PERDURE_SESSION_CONFIGURATION', 'parent']);
    expect(await factsOf(store, 'long')).toEqual([]);
  });
});

/** A snapshot of so many messages of 60,000 characters, or of the text that is given. */
function longSnapshot(count: number, text = 'z'.repeat(60_000)): SessionSnapshotV1 {
  const messages = Array.from({ length: count }, (_, index) => ({
    id: `m${index + 1}`,
    sequence: index + 1,
    revision: 1,
    turnId: 't',
    createdAt: 1,
    role: 'user' as const,
    mode: 'turn' as const,
    parts: [{ type: 'text' as const, text: `message ${index + 1} of ${count} ${text}` }],
  }));
  const read = readSnapshot({ id: 'long', messages });
  if (!read.ok) throw new Error(`${read.fault.field}: ${read.fault.reason}`);
  return read.snapshot;
}

describe('a restored stream', () => {
  const exported = (facts: readonly RecordedFact[]) => {
    const hash = /"hash":"([0-9a-f]{64})"\}$/.exec(facts.at(-1)?.metadata ?? '')?.[1] ?? '';
    const read = async function* () {
      yield* facts;
    };
    return { revision: facts.length - 1, hash, facts: read };
  };
  const bytesOf = (facts: readonly RecordedFact[]) => facts.map(({ id, payload, metadata }) => [id, payload, metadata]);

  test('has the same bytes, goes on when it broke off, and goes on as a session [P14]', async () => {
    const place = await start();
    await (await talk(place)).close();
    const facts = await factsOf(place.store);
    const store = new MemoryEventStore();
    await restoreStream(store, { id: 's' }, exported(facts.slice(0, 4)));
    expect(await restoreStream(store, { id: 's' }, exported(facts))).toMatchObject({ added: facts.length - 4 });
    expect(bytesOf(await factsOf(store))).toEqual(bytesOf(facts));
    expect(await restoreStream(store, { id: 's' }, exported(facts))).toMatchObject({ added: 0 });
    const session = await (await start(store)).agent.sessions.get('s');
    expect(await session.send('More?')).toMatchObject({ status: 'completed' });
    expect(await codeOf(() => restoreStream(store, { id: 's' }, exported(facts)))).toEqual([
      'PERDURE_SESSION_EXISTS',
      undefined,
    ]);
  });

  test('is refused when a byte or its end is another, and nothing is stored', async () => {
    const place = await start();
    await talk(place);
    const facts = await factsOf(place.store);
    const store = new MemoryEventStore();
    const changed = facts.map((fact) => ({ ...fact, payload: fact.payload.replace('there', 'THERE') }));
    const broken = () => restoreStream(store, { id: 's' }, exported(changed));
    expect(await codeOf(broken)).toEqual(['PERDURE_CHAIN_BROKEN', undefined]);
    const cut = { ...exported(facts), facts: exported(facts.slice(0, -1)).facts };
    expect(await codeOf(() => restoreStream(store, { id: 's' }, cut))).toEqual(['PERDURE_ANCHOR_MISMATCH', undefined]);
    expect(await factsOf(store)).toEqual([]);
  });
});
