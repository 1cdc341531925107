import { expect } from 'vitest';
import { expectError } from '../expect-error.js';
import { newFacts, store } from '../facts.js';
import { follow } from '../follower.js';
import type { EventStoreSuite } from './event-store-suite.js';

const STREAM = 'session-_.close';

export function verifyClose({ verify, capabilities }: EventStoreSuite): void {
  verify('event-store:declare:capabilities', async ({ store: events }) => {
    expect(events.name).not.toBe('');
    expect(events.capabilities).toEqual(capabilities);
    expect(events.limits.maxEventBytes).toBeGreaterThanOrEqual(256 * 1024);
    expect(events.limits.maxBatch).toBeGreaterThanOrEqual(1);
  });

  verify('event-store:close:followers', async ({ store: events }) => {
    await store(events, STREAM, newFacts(2), 'none');
    const followers = [
      follow(events, { stream: STREAM }),
      follow(events, { all: true }),
      follow(events, { stream: 'session-_.missing' }, { types: ['Never'] }),
    ];
    for (const follower of followers) await follower.caughtUp();
    const ends = followers.map((follower) => follower.end());
    await events.close();
    await Promise.all(ends);
    expect(followers.map(({ facts }) => facts.length)).toEqual([2, 2, 0]);
  });

  verify('event-store:close:calls', async ({ store: events }) => {
    await store(events, STREAM, newFacts(1), 'none');
    await events.close();
    await events.close();
    await expectError('PERDURE_STORE_CLOSED', () => events.append(STREAM, newFacts(1), { expected: 0 }));
    await expectError('PERDURE_STORE_CLOSED', () => events.read(STREAM));
    await expectError('PERDURE_STORE_CLOSED', () => events.truncate(STREAM, 1));
    await expectError('PERDURE_STORE_CLOSED', async () => follow(events, { all: true }).end());
  });
}
