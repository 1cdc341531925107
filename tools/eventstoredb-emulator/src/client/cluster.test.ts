import { NotLeaderError } from '@eventstore/db-client';
import { describe, expect, test } from 'vitest';
import { counted, numbersOf, readWhole } from './events.fixture.js';
import { connect, isControllable, newStream, serverUnderTest } from './server.fixture.js';

// The nodes of a real cluster are not these.
describe.runIf(isControllable)('a cluster', () => {
  const one = serverUnderTest();
  const two = serverUnderTest();
  const member = (port: number, state: 'leader' | 'follower') => ({ host: '127.0.0.1', port, state });

  test('of one node is discovered', async () => {
    const client = connect(`esdb+discover://127.0.0.1:${one.emulator.port}?tls=false`);
    await expect(client.appendToStream(newStream(), counted(0))).resolves.toMatchObject({ success: true });
    await client.dispose();
  });

  test('is discovered by any node that lives, and the leader is preferred', async () => {
    const members = [member(one.emulator.port, 'follower'), member(two.emulator.port, 'leader')];
    await one.emulator.faults.setMembers(members);
    const stream = newStream();
    // Nothing listens on the first port.
    const client = connect(`esdb://127.0.0.1:1,127.0.0.1:${one.emulator.port}?tls=false&discoveryInterval=10`);
    await client.appendToStream(stream, counted(7));
    expect(numbersOf(await readWhole(two.client, stream))).toEqual([7]);
    await expect(readWhole(one.client, stream)).rejects.toThrow('not found');
    await client.dispose();
  });

  test.each([{}, { credentials: { username: 'a', password: 'b' } }])(
    'whose node does not lead sends the client to the leader: %j',
    async (options) => {
      const fault = { kind: 'not-leader', host: '127.0.0.1', port: two.emulator.port } as const;
      await one.emulator.faults.inject({ on: 'append', fault });
      const stream = newStream();
      const client = connect(one.emulator.connectionString);
      const first = client.appendToStream(stream, counted(1), options);
      await expect(first).rejects.toBeInstanceOf(NotLeaderError);
      await client.appendToStream(stream, counted(2), options);
      expect(numbersOf(await readWhole(two.client, stream))).toEqual([2]);
      await one.emulator.faults.clear();
      await client.dispose();
    },
  );

  test('that nobody answers for is an error', async () => {
    await one.emulator.faults.inject({ on: 'gossip', fault: { kind: 'unavailable' } });
    const client = connect(
      `esdb+discover://127.0.0.1:${one.emulator.port}?tls=false&maxDiscoverAttempts=2&discoveryInterval=10`,
    );
    await expect(client.appendToStream(newStream(), counted(0))).rejects.toThrow('Failed to discover');
    await one.emulator.faults.clear();
  });
});
