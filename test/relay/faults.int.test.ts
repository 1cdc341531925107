import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { KafkaProxy, startKafka, type KafkaBroker } from '@perdure/kafka';
import { relayOptions, topicNames, verifyTopic } from '@perdure/relay-kafka';
import { openSqliteStores } from '@perdure/store-sqlite';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { RelayProcesses } from './relay-processes.fixture.js';
import { sessionsOf, TestSessions } from './sessions.fixture.js';
import { storeFacts } from './store-facts.fixture.js';
import { TopicConsumer } from './topic-consumer.fixture.js';
import { until } from './until.fixture.js';

/** PERDURE_KAFKA_FULL=1 takes the whole size. */
const isFull = (process.env['PERDURE_KAFKA_FULL'] ?? '') !== '';
const SIZE = isFull
  ? { facts: 100_000, sessions: 1_000, relayKills: 20, brokerKills: 5, lost: 20 }
  : { facts: 4_000, sessions: 100, relayKills: 2, brokerKills: 1, lost: 2 };
const MAX_FACTS = isFull ? 200 : 50;
const MINUTES = 60_000;

describe.skipIf(!inject('canStartKafka'))('relays and brokers that die', () => {
  const folder = mkdtempSync(join(tmpdir(), 'relay-faults-'));
  let broker: KafkaBroker;
  let proxy: KafkaProxy;
  beforeAll(async () => {
    broker = await startKafka();
    proxy = await KafkaProxy.open(broker.proxied);
  });
  afterAll(async () => {
    await proxy.close();
    await broker.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test(
    '[P13/kafka] each fact comes once and in order, whatever is killed and whichever replies are lost',
    async () => {
      const path = join(folder, 'perdure.db');
      const { events: store, close } = await openSqliteStores({ path });
      const topics = { prefix: 'faults', partitions: 6 };
      const settings = {
        brokers: [...proxy.brokers],
        topics,
        batch: { maxFacts: MAX_FACTS },
        leaseMs: 1_000,
        requestTimeoutMs: 2_000,
      };
      const relays = new RelayProcesses({ path, settings });
      const progress = { kills: 0 };
      const writing = write(new TestSessions(store), progress);
      // In the middle of its work, where there is some.
      const atWork = (node?: string): Promise<void> => isSoon(() => relays.isAtWork(node));
      const interruptions = { count: 0 };
      try {
        await relays.start('a0');
        await relays.start('b0');
        const killing = [
          repeatedly(SIZE.relayKills, async (index) => {
            await until(
              () => relays.owner() !== undefined,
              () => relays.statuses(),
            );
            const owner = relays.owner() ?? '';
            await atWork(owner);
            await delay(Math.random() * 100);
            await relays.kill(owner);
            interruptions.count += 1;
            progress.kills += 1;
            await relays.start(`${owner.charAt(0)}${index + 1}`);
          }),
          repeatedly(SIZE.brokerKills, async () => {
            await delay(1_000 + Math.random() * 1_000);
            await atWork();
            await broker.kill();
            interruptions.count += 1;
            await broker.start();
          }),
          repeatedly(SIZE.lost, async (index) => {
            await atWork();
            const lost = proxy.lostCount;
            proxy.lose({ api: index % 2 === 0 ? 'produce' : 'endTxn', count: 1 + (index % 5), how: 'cut' });
            await isSoon(() => proxy.lostCount > lost);
          }),
        ];
        await Promise.all([writing, ...killing]);
        await until(
          () => relays.statuses().some((status) => status?.caughtUp),
          () => relays.statuses(),
          5 * MINUTES,
        );
        const options = relayOptions.parse({ ...settings, brokers: [...broker.brokers] });
        const consumer = await TopicConsumer.start(broker.brokers, topicNames('faults').facts);
        const plain = await TopicConsumer.start(broker.brokers, topicNames('faults').facts, { uncommitted: true });
        const isThere = (): boolean => consumer.count === SIZE.facts && plain.count === SIZE.facts;
        await until(isThere, () => [consumer.count, plain.count, relays.statuses()], 5 * MINUTES);
        const stored = await storeFacts(store);
        expect(consumer.facts.size).toBe(SIZE.sessions);
        for (const [stream, facts] of stored) {
          expect(consumer.facts.get(stream)?.map(({ fact }) => fact)).toEqual(facts);
        }
        // Who reads what is committed has no double at all; others have those of transactions that were given up.
        expect(consumer).toMatchObject({ gaps: [], doubles: 0, messages: SIZE.facts });
        expect(plain.gaps).toEqual([]);
        const rejected = interruptions.count + proxy.lostCount;
        expect(plain.doubles).toBeLessThanOrEqual(rejected * MAX_FACTS);
        const verification = await verifyTopic(store, options);
        expect(verification).toMatchObject({ agrees: true, equal: SIZE.facts, missing: 0, behind: 0, doubles: 0 });
        console.log(
          `relay faults: ${SIZE.facts} facts of ${SIZE.sessions} sessions, ${interruptions.count} kills, ` +
            `${proxy.lostCount} lost replies, ${plain.doubles} doubles for who reads uncommitted messages`,
        );
        await consumer.stop();
        await plain.stop();
      } finally {
        await writing.catch(() => undefined);
        await relays.killAll();
        await close();
      }
    },
    isFull ? 30 * MINUTES : 4 * MINUTES,
  );
});

/** Facts that come while things die, so that there are some to the end. */
async function write(sessions: TestSessions, progress: { readonly kills: number }): Promise<void> {
  const keys = sessionsOf(SIZE.sessions);
  const rounds = SIZE.facts / SIZE.sessions / 4;
  for (let round = 0; round < rounds; round++) {
    const due = Math.floor((round * SIZE.relayKills) / rounds);
    await until(
      () => progress.kills >= due,
      () => progress,
      5 * MINUTES,
    );
    await sessions.make(keys, 4);
  }
}

/** Waits for something for some seconds at most. */
async function isSoon(holds: () => boolean): Promise<void> {
  const end = performance.now() + 3_000;
  while (!holds() && performance.now() < end) await delay(5);
}

async function repeatedly(times: number, work: (index: number) => Promise<void>): Promise<void> {
  for (let index = 0; index < times; index++) await work(index);
}
