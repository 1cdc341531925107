import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { loadSession, stateHash } from '@perdure/core';
import {
  createTestRuntime,
  encodeFacts,
  foldDigest,
  foldOnto,
  initialState,
  openStateSnapshot,
  StateSnapshotWriter,
} from '@perdure/core/testing';
import { defineEvent, FactRegistry, type CoreFact, type RecordedFact, type Upcaster } from '@perdure/events';
import type { ProjectionStore } from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { coreFacts } from '../fixtures/arbitrary-facts.js';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

/** Streams that each promise is tried with. */
const RUNS = Number(process.env['PERDURE_FOLDS'] ?? 150);
/** Of a session that is cut at every place. */
const TURNS = Math.min(RUNS, 40);

const registry = new FactRegistry();
const key = { id: 's' };
const stream = 'session-_.s';

/** Random facts in a store, with facts of a plugin that is not loaded between them. */
async function stored(facts: readonly CoreFact[], strangers: ReadonlySet<number>) {
  const store = new MemoryEventStore();
  const mixed = facts.flatMap((fact, index) => (strangers.has(index) ? [fact, passed] : [fact]));
  for (const [index, fact] of encodeFacts('s', mixed).entries()) {
    await store.append(stream, [fact], { expected: index === 0 ? 'none' : index - 1 });
  }
  return store;
}

const strange = (version: number) =>
  defineEvent({
    type: 'stranger/Passed',
    version,
    lane: 'owner',
    schema: z.strictObject({ note: z.string() }),
    wire: { type: 'stranger_passed', payload: (fact) => ({ note: fact.note }) },
  });
const passed = { type: 'stranger/Passed', payload: { note: 'hello' } };

async function allOf(store: MemoryEventStore): Promise<RecordedFact[]> {
  const facts: RecordedFact[] = [];
  for (let from: number | undefined = 0; from !== undefined;) {
    const page: Awaited<ReturnType<typeof store.read>> = await store.read(stream, { from });
    facts.push(...page.facts);
    from = page.next;
  }
  return facts;
}

async function writeSnapshot(store: MemoryEventStore, projections: ProjectionStore, revision: number): Promise<void> {
  const facts = (await allOf(store)).slice(0, revision + 1);
  const state = foldOnto(initialState, facts, registry);
  const hash = /"hash":"([0-9a-f]{64})"\}$/.exec(facts.at(-1)?.metadata ?? '')?.[1] ?? '';
  await new StateSnapshotWriter(projections, { state, head: revision, hash, key }, foldDigest(registry), -1).write();
}

describe('the fold [P5]', () => {
  test('gives one state however a stream is cut, through a snapshot anywhere, any plugins [P6]', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(coreFacts, { minLength: 1, maxLength: 60 }),
        fc.nat(),
        fc.nat(),
        async (facts, a, b) => {
          const store = await stored(facts, new Set([a % facts.length]));
          const all = await allOf(store);
          const whole = stateHash(foldOnto(initialState, all, registry));
          const cut = a % all.length;
          const first = foldOnto(initialState, all.slice(0, cut), registry);
          expect(stateHash(foldOnto(first, all.slice(cut), registry))).toBe(whole);

          const projections = new MemoryProjectionStore();
          await writeSnapshot(store, projections, b % all.length);
          const opened = await openStateSnapshot({ projections, store, facts: registry }, key);
          expect(opened.revision).toBe(b % all.length);
          expect(stateHash((await loadSession(store, stream, registry, { start: opened })).state)).toBe(whole);

          const upcast: Upcaster = { type: 'stranger/Passed', from: 1, upcast: (payload) => payload };
          const richer = new FactRegistry([strange(2)], [upcast]);
          expect(stateHash(foldOnto(initialState, all, richer))).toBe(whole);
          expect((await openStateSnapshot({ projections, store, facts: richer }, key)).revision).toBe(-1);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('passes by a snapshot in which any byte was changed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(coreFacts, { minLength: 5, maxLength: 30 }),
        fc.nat(),
        fc.nat(),
        async (facts, row, at) => {
          const store = await stored(facts, new Set());
          const projections = new MemoryProjectionStore();
          await writeSnapshot(store, projections, facts.length - 1);
          const rows = await projections.rows('state:_.s');
          const chosen = rows[row % rows.length] as { key: string; value: string };
          const place = at % chosen.value.length;
          const flipped = String.fromCharCode(chosen.value.charCodeAt(place) ^ 1);
          const value = chosen.value.slice(0, place) + flipped + chosen.value.slice(place + 1);
          const checkpoint = await projections.checkpoint('state:_.s');
          const change = { expected: checkpoint, checkpoint: 'x', put: [{ key: chosen.key, value }], remove: [] };
          await projections.commit('state:_.s', change);
          expect((await openStateSnapshot({ projections, store, facts: registry }, key)).revision).toBe(-1);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('is the same when the details of closed steps are left out, at every place of a stream', async () => {
    const store = new MemoryEventStore();
    const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
    const call = (name: string) => ({ name, input: { key: name } });
    const model = new ScriptedModel({
      rules: [
        { when: { userTextContains: 'fail' }, times: 2, answer: { error: { status: 500, message: 'no' } } },
        { when: { toolResults: 0 }, answer: { calls: [call('lookup'), call('lookup')] } },
        { when: { toolResults: 2 }, answer: { text: 'and', calls: [call('other')] } },
        { when: { toolResults: 3 }, answer: { calls: [call('unknown')] } },
        { answer: { text: 'done' } },
      ],
    });
    const tools = { lookup: lookupTool(), other: lookupTool([], 'once') };
    const agent = runtime.agent({ id: 'clerk', model, models: { second: model }, tools });
    const session = await agent.sessions.create({ sessionId: 's' });
    for (let turn = 0; turn < TURNS; turn++) {
      const handle = await session.prompt(turn % 11 === 3 ? 'fail first' : 'go');
      if (turn % 5 === 0) await session.prompt('and this');
      if (turn % 7 === 0) await session.prompt({ query: 'queued', whenBusy: 'queue' });
      if (turn % 6 === 0) await session.set({ model: 'second' });
      if (turn % 9 === 0) await handle.stop();
      await handle.finished;
    }
    await session.tool('other', { key: 'host' });
    const all = await allOf(store);
    expect(all.length).toBeGreaterThan(15 * TURNS);
    // What the runtime works out itself is not checked when it is written; here it is.
    for (const { type, payload } of all) registry.definition(type)?.schema.parse(JSON.parse(payload));
    const prefix = new MemoryEventStore();
    for (let length = 0; length < all.length; length += 7) {
      await copy(all.slice(length, length + 7), prefix);
      const folded = await loadSession(prefix, stream, registry);
      expect(stateHash(folded.state)).toBe(stateHash(foldOnto(initialState, all.slice(0, length + 7), registry)));
    }
    await runtime.dispose();
  }, 120_000);
});

/** The same facts in another store, behind those that it has, with what their types say of details. */
async function copy(facts: readonly RecordedFact[], store: MemoryEventStore): Promise<void> {
  const batch = facts.map(({ id, type, payload, metadata }) => {
    const isDetail = registry.definition(type)?.isDetail?.(JSON.parse(payload)) ?? false;
    return { id, type, payload, metadata, ...(isDetail ? { detail: true } : {}) };
  });
  const { revision = 0 } = facts[0] ?? {};
  await store.append(stream, batch, { expected: revision === 0 ? 'none' : revision - 1 });
}
