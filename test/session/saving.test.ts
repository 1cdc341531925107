import { expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { Session, SnapshotStore } from '@perdure/plugin-api';
import { MemoryEventStore, MemorySnapshotStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

/** A store of a host's own, and what is asked of it. */
function notingStore(atomic: boolean) {
  const asked: string[] = [];
  const inner = new MemorySnapshotStore();
  const store: SnapshotStore = {
    name: 'noting',
    atomic,
    save: (key, snapshot) => {
      asked.push(`save ${key} with ${snapshot.session.messages.length} messages`);
      return inner.save(key, snapshot);
    },
    load: (key) => {
      asked.push(`load ${key}`);
      return inner.load(key);
    },
    list: () => inner.list(),
    delete: (key) => inner.delete(key),
    close: () => inner.close(),
  };
  return { store, asked, inner };
}

async function sessionWith(snapshots: SnapshotStore): Promise<Session> {
  const stores = storesWith(new MemoryEventStore(), undefined, undefined, snapshots);
  const runtime = await createTestRuntime({ plugins: [stores, allowing] });
  onTestFinished(() => runtime.dispose());
  const model = new ScriptedModel(({ toolResultsSince }) =>
    toolResultsSince.length === 0 ? { calls: [{ name: 'lookup', input: { key: 'a' } }] } : { text: 'done' },
  );
  const agent = runtime.agent({ id: 'clerk', model, tools: { lookup: lookupTool() } });
  const session = await agent.sessions.create({ sessionId: 's' });
  await session.send('go');
  return session;
}

test('a save is one call with the whole session, and nothing is saved that nobody asked to save [A19]', async () => {
  const { store, asked, inner } = notingStore(true);
  const session = await sessionWith(store);
  expect(asked).toEqual([]);
  await session.save();
  expect(asked).toEqual(['save _.s with 4 messages']);
  const saved = await inner.load('_.s');
  expect(saved).toMatchObject({ schema_version: 1, run_records: [{ status: 'completed' }] });
  expect(saved?.trace_events.length).toBe((await session.info()).revision + 1);
});

test('a store that keeps no whole session is an error, and never a success of a part [A19]', async () => {
  const { store, asked } = notingStore(false);
  const session = await sessionWith(store);
  await expect(session.save()).rejects.toMatchObject({
    code: 'PERDURE_SNAPSHOT_UNSUPPORTED',
    message: "session store 'noting' does not support aggregate session snapshots",
  });
  expect(asked).toEqual([]);
});
