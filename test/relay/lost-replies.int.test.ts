import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { KafkaProxy } from '@perdure/kafka';
import { MemoryEventStore } from '@perdure/store-memory';
import { Kafka, logLevel, type Producer } from 'kafkajs';
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest';
import { CountingStore } from './counting-store.fixture.js';
import { RunningRelay } from './running-relay.fixture.js';
import { sessionsOf, TestSessions } from './sessions.fixture.js';
import { TopicConsumer } from './topic-consumer.fixture.js';
import { until } from './until.fixture.js';

const brokers = inject('kafkaBrokers');
const proxied = inject('kafkaProxied');
/** How long brokers are away; PERDURE_KAFKA_AWAY_MS=60000 takes a minute. */
const AWAY_MS = Number(process.env['PERDURE_KAFKA_AWAY_MS'] ?? 2_000);

describe.skipIf(proxied === undefined)('replies that get lost', () => {
  const undo: (() => Promise<unknown>)[] = [];
  let proxy: KafkaProxy;
  beforeAll(async () => {
    if (proxied !== undefined) proxy = await KafkaProxy.open(proxied);
  });
  afterEach(async () => {
    for (const each of undo.splice(0).reverse()) await each();
  });
  afterAll(() => proxy.close());

  async function valuesOf(topic: string, count: number): Promise<readonly string[]> {
    const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
    const consumer = kafka.consumer({ groupId: `test-${randomUUID()}`, maxWaitTimeInMs: 100 });
    undo.push(() => consumer.disconnect());
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    const values: string[] = [];
    await consumer.run({ eachMessage: async ({ message }) => void values.push(message.value?.toString() ?? '') });
    await until(
      () => values.length >= count,
      () => values,
    );
    return values;
  }

  async function naiveProducer(topic: string, more: object): Promise<Producer> {
    const kafka = new Kafka({
      brokers: [...proxy.brokers],
      logLevel: logLevel.NOTHING,
      retry: { retries: 10, initialRetryTime: 20 },
    });
    const admin = kafka.admin();
    await admin.connect();
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: true });
    await admin.disconnect();
    const producer = kafka.producer({ maxInFlightRequests: 1, retry: { retries: 1, initialRetryTime: 20 }, ...more });
    undo.push(() => producer.disconnect());
    await producer.connect();
    return producer;
  }

  const sends = async (producer: Producer, topic: string, value: string): Promise<'acknowledged' | 'rejected'> =>
    producer.send({ topic, messages: [{ value }], acks: -1 }).then(
      () => 'acknowledged' as const,
      () => 'rejected' as const,
    );

  test('a producer that goes on after a rejection loses a message that the broker acknowledged', async () => {
    const topic = `naive-${randomUUID()}`;
    const producer = await naiveProducer(topic, { idempotent: true });
    expect(await sends(producer, topic, 'first')).toBe('acknowledged');
    // Both tries of the second are appended once, and nobody hears of it.
    proxy.lose({ api: 'produce', count: 2, how: 'cut' });
    expect(await sends(producer, topic, 'second')).toBe('rejected');
    // The next one takes the same sequence number: to the broker it is the second once more.
    expect(await sends(producer, topic, 'third')).toBe('acknowledged');
    expect(await sends(producer, topic, 'fourth')).toBe('acknowledged');
    expect(await valuesOf(topic, 3)).toEqual(['first', 'second', 'fourth']);
  });

  test('a producer that is not transactional still writes when a newer one has gone on', async () => {
    const topic = `zombie-${randomUUID()}`;
    const older = await naiveProducer(topic, { idempotent: true });
    const newer = await naiveProducer(topic, { idempotent: true });
    expect(await sends(older, topic, 'a')).toBe('acknowledged');
    expect(await sends(newer, topic, 'b')).toBe('acknowledged');
    expect(await sends(older, topic, 'a again')).toBe('acknowledged');
    // With one transactional id the newer one fences the older.
    const transactionalId = randomUUID();
    const first = await naiveProducer(topic, { transactionalId });
    const second = await naiveProducer(topic, { transactionalId });
    const late = await first.transaction();
    const transaction = await second.transaction();
    await transaction.send({ topic, messages: [{ value: 'c' }] });
    await transaction.commit();
    await expect(late.send({ topic, messages: [{ value: 'late' }] })).rejects.toThrow();
    expect(await valuesOf(topic, 4)).toEqual(['a', 'b', 'a again', 'c']);
  });

  test.each([
    ['of what was sent', 'produce', 6],
    ['of a commit', 'endTxn', 1],
    ['of the producer’s id', 'initProducerId', 2],
  ] as const)(
    '[P13/kafka] the relay loses nothing and repeats nothing when replies %s get lost',
    async (_, api, count) => {
      const store = new MemoryEventStore();
      const sessions = new TestSessions(store);
      const keys = sessionsOf(6);
      await sessions.make(keys, 4);
      const relay = new RunningRelay(store, { brokers: [...proxy.brokers], batch: { maxFacts: 10 } });
      undo.push(() => relay.stop());
      await relay.caughtUp();
      const before = proxy.lostCount;
      proxy.lose({ api, count, how: 'cut' });
      if (api === 'initProducerId') proxy.cutAll();
      await sessions.make(keys, 16);
      await until(
        () => proxy.lostCount === before + count && relay.relay.status().caughtUp,
        () => [proxy.lostCount - before, relay.relay.status()],
      );
      const consumer = await TopicConsumer.start(brokers, relay.names.facts);
      undo.push(() => consumer.stop());
      await until(
        () => consumer.count >= 120,
        () => consumer.count,
      );
      expect(relay.relay.status().restarts).toBeGreaterThan(0);
      expect(consumer).toMatchObject({ count: 120, messages: 120, doubles: 0, gaps: [] });
    },
  );

  test('while the brokers are away the relay holds nothing, and behind that it brings everything', async () => {
    const store = new MemoryEventStore();
    const sessions = new TestSessions(store);
    const keys = sessionsOf(20);
    await sessions.make(keys, 4);
    const counted = new CountingStore(store);
    const relay = new RunningRelay(counted, { brokers: [...proxy.brokers], connectTimeoutMs: 1_000, leaseMs: 10_000 });
    undo.push(() => relay.stop());
    await relay.caughtUp();
    proxy.away();
    const before = counted.given;
    const end = performance.now() + AWAY_MS;
    let appended = 80;
    while (performance.now() < end) {
      await sessions.make(keys, 8);
      appended += 160;
      await delay(50);
    }
    // It took one chunk at most before it noticed, and the store hands out a page.
    expect(counted.given - before).toBeLessThanOrEqual(2_000);
    expect(relay.relay.status()).toMatchObject({ state: 'away', lastError: { code: 'PERDURE_RELAY_UNAVAILABLE' } });
    proxy.back();
    await until(
      () => relay.relay.status().sent === appended,
      () => relay.relay.status(),
    );
    const consumer = await TopicConsumer.start(brokers, relay.names.facts);
    undo.push(() => consumer.stop());
    await until(
      () => consumer.count === appended,
      () => consumer.count,
    );
    expect(consumer).toMatchObject({ messages: appended, gaps: [] });
  });
});
