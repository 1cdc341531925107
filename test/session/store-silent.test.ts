import { createTestRuntime } from '@perdure/core/testing';
import type { EventStore } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { afterEach, expect, test, vi } from 'vitest';
import { allowing, storesWith } from '../fixtures/agents.js';

/** A store whose followers wait for a server that does not come. */
function silent(store: EventStore): EventStore {
  return {
    name: store.name,
    capabilities: store.capabilities,
    limits: store.limits,
    append: (...given) => store.append(...given),
    read: (...given) => store.read(...given),
    truncate: (...given) => store.truncate(...given),
    close: () => store.close(),
    async *subscribe(_, options) {
      await new Promise<void>((resolve) => options?.signal?.addEventListener('abort', () => resolve()));
      yield* [];
    },
  };
}

afterEach(() => vi.useRealTimers());

test('who asks for nodes or sessions is told that the store is away, and need not wait for it', async () => {
  const runtime = await createTestRuntime({ plugins: [storesWith(silent(new MemoryEventStore())), allowing] });
  const away = { status: 'rejected', reason: { code: 'PERDURE_STORE_UNAVAILABLE' } };
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const asked = Promise.allSettled([runtime.nodes(), runtime.sessions(), runtime.sessionsOf('a')]);
  await vi.advanceTimersByTimeAsync(10_000);
  vi.useRealTimers();
  expect(await asked).toMatchObject([away, away, away]);
  await runtime.dispose();
});
