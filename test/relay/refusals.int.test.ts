import { randomUUID } from 'node:crypto';
import { MemoryEventStore } from '@perdure/store-memory';
import { relayOptions, verifyTopic, type RelaySettings } from '@perdure/relay-kafka';
import {
  AclOperationTypes,
  AclPermissionTypes,
  AclResourceTypes,
  Kafka,
  logLevel,
  ResourcePatternTypes,
  type AclEntry,
  type Admin,
} from 'kafkajs';
import { afterEach, describe, expect, inject, test } from 'vitest';
import { RunningRelay } from './running-relay.fixture.js';
import { sessionsOf, TestSessions } from './sessions.fixture.js';
import { TopicConsumer } from './topic-consumer.fixture.js';
import { until } from './until.fixture.js';

const brokers = inject('kafkaBrokers');
const secured = inject('kafkaSecured');
const undo: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const each of undo.splice(0).reverse()) await each();
});

async function admin(): Promise<Admin> {
  const one = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await one.connect();
  undo.push(() => one.disconnect());
  return one;
}

function start(store: MemoryEventStore, settings: Partial<RelaySettings>): RunningRelay {
  const relay = new RunningRelay(store, { brokers: [...brokers], ...settings });
  undo.push(() => relay.stop());
  return relay;
}

describe.skipIf(brokers.length === 0)('what a relay refuses and what it is refused', () => {
  test.each([
    ['cleanup.policy', 'compact', 'delete'],
    ['max.message.bytes', '2048', '4194304'],
    ['retention.ms', '1000', '-1'],
    ['message.timestamp.type', 'CreateTime', 'LogAppendTime'],
  ])('a topic whose %s is %s ends it with the reason, and nothing is sent', async (setting, actual, expected) => {
    const prefix = `wrong-${randomUUID()}`;
    const topic = `${prefix}.session-events.v1`;
    const one = await admin();
    const good = { 'message.timestamp.type': 'LogAppendTime', 'max.message.bytes': '4194304', 'retention.ms': '-1' };
    const configEntries = Object.entries({ ...good, [setting]: actual }).map(([name, value]) => ({ name, value }));
    await one.createTopics({ topics: [{ topic, numPartitions: 3, configEntries }], waitForLeaders: true });
    const relay = start(new MemoryEventStore(), { topics: { prefix, partitions: 3 } });
    const code = 'PERDURE_RELAY_TOPIC';
    expect(await relay.ended).toMatchObject({ code, data: { topic, setting, actual, expected } });
    expect(relay.relay.status()).toMatchObject({ state: 'failed', sent: 0, lastError: { code } });
  });

  test('a topic with other partitions is refused: sessions would lose their order', async () => {
    const store = new MemoryEventStore();
    const first = start(store, {});
    await first.caughtUp();
    await first.stop();
    const again = start(store, { topics: { prefix: first.prefix, partitions: 4 } });
    expect(await again.ended).toMatchObject({ data: { setting: 'partitions', actual: '3', expected: '4' } });
  });

  test('a fact that is too large is a dead letter, and a stub stands in its place without an alarm', async () => {
    const store = new MemoryEventStore();
    const sessions = new TestSessions(store);
    const [one, other] = sessionsOf(2);
    if (one === undefined || other === undefined) throw new Error('there are no sessions');
    await sessions.append(one, 3);
    const text = (bytes: number): string => randomUUID().repeat(bytes / 36);
    await sessions.appendFacts(one.key, [{ type: 'plugin/Large', payload: { text: text(40_000) } }]);
    await sessions.appendFacts(one.key, [{ type: 'plugin/Larger', payload: { text: text(120_000) } }]);
    await sessions.append(one, 2);
    await sessions.append(other, 5);
    const topics = { maxMessageBytes: 20_000, maxDeadLetterBytes: 80_000 };
    const relay = start(store, { topics, batch: { compression: 'none' } });
    await relay.caughtUp();
    expect(relay.relay.status()).toMatchObject({ sent: 12, deadLetters: 2 });
    const consumer = await TopicConsumer.start(brokers, relay.names.facts);
    undo.push(() => consumer.stop());
    await until(
      () => consumer.count === 12,
      () => consumer.count,
    );
    expect(consumer).toMatchObject({ gaps: [], doubles: 0, stubs: 2 });
    const stub = consumer.facts.get('session-acme.s0')?.[3];
    expect(stub).toMatchObject({
      type: 'plugin/Large',
      revision: 3,
      prevRevision: 2,
      deadLetter: `${relay.names.deadLetters}/0/0`,
      value: { session_id: 's0', revision: 3, fact: null },
    });
    const letters = await TopicConsumer.start(brokers, relay.names.deadLetters, { anyBeginning: true });
    undo.push(() => letters.stop());
    await until(
      () => letters.count === 2,
      () => letters.count,
    );
    const [large, larger] = letters.facts.get('session-acme.s0') ?? [];
    expect(large?.fact?.payload).toHaveLength(JSON.stringify({ text: text(40_000) }).length);
    expect(larger).toMatchObject({ revision: 4, value: { fact: null, type: 'plugin/Larger' } });
    const options = relayOptions.parse({ brokers: [...brokers], topics: { prefix: relay.prefix, partitions: 3 } });
    expect(await verifyTopic(store, options)).toMatchObject({ agrees: true, equal: 10, stubs: 2, missing: 0 });
  });
});

describe.skipIf(secured.brokers.length === 0)('brokers with names and rules', () => {
  const login = (password: string): Partial<RelaySettings> => ({
    brokers: [...secured.brokers],
    ssl: { ca: secured.ca, servername: 'localhost' },
    sasl: { mechanism: 'plain', username: 'relay-user', password },
  });

  test('a wrong password, a permission that is missing and one that was given', async () => {
    const store = new MemoryEventStore();
    await new TestSessions(store).make(sessionsOf(2), 4);
    expect(await start(store, login('wrong')).ended).toMatchObject({ code: 'PERDURE_RELAY_DENIED' });
    const prefix = `rules-${randomUUID()}`;
    const topics = { prefix, partitions: 1 };
    const refused = await start(store, { ...login('secret'), topics }).ended;
    expect(refused).toMatchObject({ code: 'PERDURE_RELAY_DENIED' });
    expect(String(refused)).toContain('AUTHORIZATION_FAILED');
    const allow = (resourceType: AclResourceTypes, operation: AclOperationTypes): AclEntry => ({
      resourceType,
      resourceName: prefix,
      resourcePatternType: ResourcePatternTypes.PREFIXED,
      principal: 'User:relay-user',
      host: '*',
      operation,
      permissionType: AclPermissionTypes.ALLOW,
    });
    const { CREATE, DESCRIBE, DESCRIBE_CONFIGS, READ, WRITE } = AclOperationTypes;
    const one = await admin();
    await one.createAcls({
      acl: [
        ...[CREATE, DESCRIBE, DESCRIBE_CONFIGS, READ, WRITE].map((each) => allow(AclResourceTypes.TOPIC, each)),
        ...[DESCRIBE, WRITE].map((each) => allow(AclResourceTypes.TRANSACTIONAL_ID, each)),
      ],
    });
    const relay = start(store, { ...login('secret'), topics });
    await relay.caughtUp();
    expect(relay.relay.status()).toMatchObject({ sent: 8, state: 'relaying' });
  });

  test('a broker whose certificate is not known is not used, and the reason is told', async () => {
    const relay = start(new MemoryEventStore(), { ...login('secret'), ssl: true });
    await until(
      () => relay.relay.status().lastError !== undefined,
      () => relay.relay.status(),
    );
    expect(relay.relay.status()).toMatchObject({ state: 'away', lastError: { code: 'PERDURE_RELAY_UNAVAILABLE' } });
  });
});
