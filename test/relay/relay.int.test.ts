import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sessionStream } from '@perdure/events';
import { relayOptions, verifyTopic } from '@perdure/relay-kafka';
import { MemoryEventStore } from '@perdure/store-memory';
import { openSqliteStores } from '@perdure/store-sqlite';
import type { EventStore } from '@perdure/plugin-api';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { Kafka, logLevel } from 'kafkajs';
import { HangingStore } from './hanging-store.fixture.js';
import { RunningRelay } from './running-relay.fixture.js';
import { sessionsOf, TestSessions } from './sessions.fixture.js';
import { storeFacts } from './store-facts.fixture.js';
import { TopicConsumer } from './topic-consumer.fixture.js';
import { until } from './until.fixture.js';

const brokers = inject('kafkaBrokers');
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

const stores: Readonly<Record<string, () => Promise<EventStore>>> = {
  memory: async () => new MemoryEventStore(),
  async sqlite() {
    const folder = await mkdtemp(join(tmpdir(), 'relay-'));
    const { events, close } = await openSqliteStores({ path: join(folder, 'perdure.db') });
    undo.push(async () => {
      await close();
      await rm(folder, { recursive: true, force: true });
    });
    return events;
  },
};

async function relayed(store: EventStore, settings: Partial<ConstructorParameters<typeof RunningRelay>[1]> = {}) {
  const relay = new RunningRelay(store, { brokers: [...brokers], ...settings });
  undo.push(() => relay.stop());
  await relay.caughtUp();
  return relay;
}

async function consumed(topic: string, count: number, uncommitted = false): Promise<TopicConsumer> {
  const consumer = await TopicConsumer.start(brokers, topic, { uncommitted });
  undo.push(() => consumer.stop());
  await until(
    () => consumer.count >= count,
    () => consumer.count,
  );
  return consumer;
}

describe.skipIf(brokers.length === 0)('a relay to a real broker', () => {
  test.each(Object.keys(stores))(
    '[P13/kafka] brings what is in a %s store and what comes, byte for byte and in order',
    async (name) => {
      const store = await (stores[name] ?? stores['memory'])?.();
      if (store === undefined) throw new Error(`There is no store "${name}".`);
      const sessions = new TestSessions(store);
      const keys = sessionsOf(9);
      await sessions.make(keys, 20);
      const relay = await relayed(store);
      await sessions.make(keys.slice(0, 3), 8);
      await until(
        () => relay.relay.status().sent === 204,
        () => relay.relay.status(),
      );
      const consumer = await consumed(relay.names.facts, 204);
      const stored = await storeFacts(store);
      expect(new Map([...consumer.facts].map(([stream, facts]) => [stream, facts.map(({ fact }) => fact)]))).toEqual(
        stored,
      );
      expect(consumer).toMatchObject({ doubles: 0, gaps: [], messages: 204 });
    },
  );

  test('[P17/kafka] relays whole sessions of the tenants and templates that it is told, and no others', async () => {
    const store = new MemoryEventStore();
    const sessions = new TestSessions(store);
    const keys = sessionsOf(12);
    await sessions.make(keys, 6);
    const byTenant = await relayed(store, { filter: { tenants: ['acme'] } });
    const ofTenant = await consumed(byTenant.names.facts, 24);
    expect([...ofTenant.facts.keys()].every((stream) => stream.startsWith('session-acme.'))).toBe(true);
    const filter = { tenants: ['acme', null], templates: ['support'] };
    const byBoth = await relayed(store, { filter });
    // Labels that come later change nothing: a session is on the topic as a whole or not at all.
    const [first, second] = [keys[0], keys[5]];
    if (first === undefined || second === undefined) throw new Error('there are no sessions');
    for (const { key } of [first, second])
      await sessions.appendFacts(key, [{ type: 'SessionRelabeled', payload: { labels: { agentTemplateId: 'x' } } }]);
    await sessions.append(first, 2);
    const ofBoth = await consumed(byBoth.names.facts, 27);
    expect([...ofBoth.facts.keys()].sort()).toEqual([
      'session-_.s2',
      'session-_.s8',
      'session-acme.s0',
      'session-acme.s6',
    ]);
    expect(ofBoth.facts.get('session-acme.s0')).toHaveLength(9);
    const options = relayOptions.parse({ brokers, filter, topics: { prefix: byBoth.prefix, partitions: 3 } });
    expect(await verifyTopic(store, options)).toMatchObject({ agrees: true, equal: 27 });
  });

  test('tells on the state topic what sessions have come to, and a tombstone when one is erased', async () => {
    const store = new MemoryEventStore();
    const sessions = new TestSessions(store);
    const keys = sessionsOf(3);
    await sessions.make(keys, 9);
    const relay = await relayed(store);
    const erased = keys[1];
    if (erased === undefined) throw new Error('there are no sessions');
    await relay.stop();
    // Erased before the relay came to it: what was truncated is missing, and nobody need be alarmed.
    await sessions.append(erased, 4);
    await sessions.appendFacts(erased.key, [{ type: 'SessionErased', payload: { agentId: 'helper' } }]);
    await store.truncate(sessionStream(erased.key), 13);
    await sessions.append(keys[0] ?? erased, 1);
    const again = await relayed(store, { topics: { prefix: relay.prefix } });
    const states = await stateOf(again.names.state, 5);
    expect(states.get('acme.s0')).toMatchObject({ turns: 3, model_calls: 2, tokens_in: 201, status: 'running' });
    expect(states.get('_.s2')).toMatchObject({ tenant: null, turns: 2, status: 'idle', revision: 8 });
    expect(states.get('globex.s1')).toBeNull();
    const consumer = await consumed(again.names.facts, 29);
    expect(consumer.gaps).toEqual([]);
    expect(consumer.facts.get('session-globex.s1')?.at(-1)).toMatchObject({ type: 'SessionErased', revision: 13 });
  });

  test('one relay works and the others stand by, also when one that hung comes back', async () => {
    const store = new MemoryEventStore();
    const sessions = new TestSessions(store);
    const keys = sessionsOf(3);
    await sessions.make(keys, 8);
    const hanging = new HangingStore(store);
    const first = await relayed(hanging, { leaseMs: 600 });
    const second = new RunningRelay(store, { brokers: [...brokers], leaseMs: 600, topics: { prefix: first.prefix } });
    undo.push(() => second.stop());
    expect(second.relay.status()).toMatchObject({ state: 'standby', epoch: 0 });
    // Its life signs do not arrive any more, and it does not know.
    hanging.hang();
    await second.caughtUp();
    expect(second.relay.status().epoch).toBeGreaterThan(1);
    hanging.goOn();
    await until(
      () => first.relay.status().state === 'standby',
      () => first.relay.status(),
    );
    await sessions.make(keys, 8);
    const consumer = await consumed(first.names.facts, 48);
    expect(consumer).toMatchObject({ count: 48, messages: 48, gaps: [] });
  });

  test('goes on where the topics end, however often it begins', async () => {
    const store = new MemoryEventStore();
    const sessions = new TestSessions(store);
    const [only] = sessionsOf(1);
    if (only === undefined) throw new Error('there is no session');
    let prefix: string | undefined;
    for (let round = 0; round < 3; round++) {
      await sessions.append(only, 4);
      const relay = await relayed(store, { topics: { partitions: 3, ...(prefix === undefined ? {} : { prefix }) } });
      expect(relay.relay.status().sent).toBe(4);
      prefix = relay.prefix;
      await relay.stop();
    }
    // All but one partition are empty.
    expect(await consumed(`${prefix}.session-events.v1`, 12, true)).toMatchObject({ messages: 12, gaps: [] });
  });
});

/** The last message of each session on a compacted topic. */
async function stateOf(topic: string, messages: number): Promise<ReadonlyMap<string, unknown>> {
  const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
  const consumer = kafka.consumer({ groupId: `test-${randomUUID()}`, maxWaitTimeInMs: 100 });
  undo.push(() => consumer.disconnect());
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  const rows = new Map<string, unknown>();
  let count = 0;
  await consumer.run({
    eachMessage: async ({ message: { key, value } }) => {
      count += 1;
      rows.set(key?.toString() ?? '', value === null ? null : JSON.parse(value.toString()));
    },
  });
  await until(
    () => count >= messages,
    () => count,
  );
  return rows;
}
