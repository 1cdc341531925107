import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createTestRuntime, encodeFacts, type TestFact } from '@perdure/core/testing';
import { sessionStream } from '@perdure/events';
import { MemoryEventStore } from '@perdure/store-memory';
import { storesWith } from '../fixtures/agents.js';

const usage = {
  inputTokens: 1,
  outputTokens: 1,
  totalTokens: 2,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
};
const payloads: readonly (readonly [type: string, payload: object])[] = [
  [
    'PromptAccepted',
    { promptId: 'p', turnId: 't', messageId: 'm', mode: 'turn', parts: [{ type: 'text', text: 'hi' }] },
  ],
  ['RunEnded', { runId: 'r', turnId: 't', status: 'completed', steps: 1, usage }],
  ['OwnershipReleased', { epoch: 1, reason: 'closed' }],
  // No list looks at these.
  ['StepCheckpointed', { stepId: 's', index: 0, usage }],
  ['PeerInvoked', { fromSessionId: 'other' }],
];

/** What happens to one of a few sessions: facts at times that repeat and go back. */
const happening = fc.record({
  session: fc.nat(7),
  facts: fc.array(fc.record({ kind: fc.nat(payloads.length - 1), time: fc.nat(5) }), { minLength: 1, maxLength: 12 }),
});
type Happening = typeof happening extends fc.Arbitrary<infer One> ? One : never;

async function happen(store: MemoryEventStore, { session, facts }: Happening): Promise<void> {
  const id = `s-${session}`;
  const stream = sessionStream({ id });
  const { head } = await store.read(stream, { limit: 1 });
  const added: TestFact[] = facts.map(({ kind, time }) => {
    const [type, payload] = payloads[kind] ?? ['PeerInvoked', {}];
    return { type, payload, time };
  });
  const first = { type: 'SessionCreated', payload: { agentId: 'clerk', labels: {} }, time: facts[0]?.time ?? 0 };
  await store.append(stream, encodeFacts(id, head === 'none' ? [first, ...added] : added), { expected: head });
}

test('whatever happens between pages, each session of the first moment is on one, in its order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { maxLength: 16 }),
      fc.array(fc.array(happening, { maxLength: 4 }), { maxLength: 8 }),
      fc.integer({ min: 1, max: 3 }),
      async (before, between, limit) => {
        const store = new MemoryEventStore();
        const runtime = await createTestRuntime({ plugins: [storesWith(store)] });
        for (const one of before) await happen(store, one);
        const expected = (await runtime.sessions({ limit: 500 })).items.map(({ id }) => id);
        const given: string[] = [];
        const later = [...between];
        let page = await runtime.sessions({ limit });
        for (;;) {
          expect(page.total).toBe(expected.length);
          given.push(...page.items.map(({ id }) => id));
          if (page.nextCursor === null) break;
          for (const one of later.shift() ?? []) await happen(store, one);
          page = await runtime.sessions({ limit, cursor: page.nextCursor });
        }
        expect(given).toEqual(expected);
        await runtime.dispose();
      },
    ),
    { numRuns: 60 },
  );
});

test('two tenants may have sessions of one id, and both are listed', async () => {
  const store = new MemoryEventStore();
  const runtime = await createTestRuntime({ plugins: [storesWith(store)] });
  for (const tenant of ['a', 'b']) {
    const facts = encodeFacts('s', [{ type: 'SessionCreated', payload: { agentId: 'clerk', labels: {} } }]);
    await store.append(sessionStream({ tenant, id: 's' }), facts, { expected: 'none' });
  }
  const first = await runtime.sessions({ limit: 1 });
  const second = await runtime.sessions({ limit: 1, cursor: first.nextCursor ?? '' });
  expect([first, second].map(({ items }) => items[0]?.tenant)).toEqual(['a', 'b']);
  expect(second.nextCursor).toBeNull();
  await expect(runtime.sessions({ cursor: 'nonsense' })).rejects.toMatchObject({ data: { field: 'cursor' } });
  await runtime.dispose();
});
