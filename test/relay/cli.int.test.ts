import { randomUUID } from 'node:crypto';
import { Kafka, logLevel } from 'kafkajs';
import { openSqliteStores } from '@perdure/store-sqlite';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { CliPlace } from '../e2e/cli-process.js';
import { sessionsOf, TestSessions } from './sessions.fixture.js';

const brokers = inject('kafkaBrokers');
const prefix = `cli-${randomUUID().slice(0, 8)}`;
const topic = `${prefix}.session-events.v1`;

describe.skipIf(brokers.length === 0)('perdure relay', () => {
  let makePlace: () => CliPlace;
  let place: CliPlace;
  beforeAll(async () => {
    makePlace = await CliPlace.builder();
    place = makePlace();
    place.linkPackages();
    const config = JSON.stringify({ brokers, leaseMs: 2_000, topics: { prefix, partitions: 3 } });
    place.write(
      'workspace/perdure.config.ts',
      `import relayKafka from '@perdure/relay-kafka';
       export default { store: { path: 'perdure.db' }, plugins: [{ plugin: relayKafka, config: ${config} }] };`,
    );
    const { events, close } = await openSqliteStores({ path: place.path('workspace/perdure.db') });
    await new TestSessions(events).make(sessionsOf(6), 8);
    await close();
  });
  afterAll(() => place.remove());

  test('relays, stands by, tells where it is, and ends in order', async () => {
    const before = await place.run(['relay', 'status', '--json']);
    expect(JSON.parse(before.out)).toEqual({ topic, owner: null, position: null, behind: 48 });
    const relay = place.start(['relay', 'run']);
    await relay.until('everything is on the topic');
    const other = place.start(['relay', 'run', '--json']);
    await other.until('"state":"standby"');
    expect((await place.run(['relay', 'status'])).out).toMatch(
      /^topic +\S+\nrelay +\S+ \(epoch 1\)\n.*\nbehind +0 facts\n$/,
    );
    relay.child.kill('SIGTERM');
    expect((await relay.ended).code).toBe(0);
    await other.until('"caughtUp":true');
    other.child.kill('SIGTERM');
    expect((await other.ended).code).toBe(0);
  });

  test('shows the messages of a session', async () => {
    const { code, out } = await place.run(['relay', 'tail', '--session', 's0', '--tenant', 'acme', '--once']);
    expect(code).toBe(0);
    const lines = out.trimEnd().split('\n');
    expect(lines).toHaveLength(8);
    expect(lines[0]).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z\tsession-acme\.s0@0\tSessionCreated$/);
  });

  test('sends everything again to other topics, and verifies both', async () => {
    expect(await place.run(['relay', 'verify'])).toMatchObject({ code: 0, out: expect.stringMatching(/equal +48/) });
    const other = `${prefix}-again`;
    expect(await place.run(['relay', 'republish', '--prefix', other])).toMatchObject({
      code: 0,
      out: `${other}.session-events.v1: has everything; 48 facts were sent\n`,
    });
    const { out } = await place.run(['relay', 'verify', '--prefix', other, '--json']);
    expect(JSON.parse(out)).toMatchObject({ agrees: true, equal: 48 });
    // What somebody else writes there is found.
    const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING });
    const producer = kafka.producer();
    await producer.connect();
    await producer.send({ topic: `${other}.session-events.v1`, messages: [{ key: 'acme.s0', value: 'not a fact' }] });
    await producer.disconnect();
    expect(await place.run(['relay', 'verify', '--prefix', other])).toMatchObject({
      code: 4,
      out: expect.stringMatching(/differs from the store\n[^]*unreadable +1/),
    });
  });

  test('says what is missing', async () => {
    expect(await place.run(['relay', 'republish', '--prefix', prefix])).toMatchObject({
      code: 2,
      error: expect.stringContaining('--prefix'),
    });
    const bare = makePlace();
    const without = await bare.run(['relay', 'run']);
    expect(without).toMatchObject({ code: 2, error: expect.stringContaining('@perdure/relay-kafka') });
    bare.remove();
  });
});
