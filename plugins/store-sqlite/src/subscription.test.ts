import { setTimeout } from 'node:timers/promises';
import type { FactBatch } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import { newFacts, store } from './facts.fixture.js';
import { observedDriver, type ObservedCall } from './observed-driver.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

const OWNERS = 200;

for (const driver of await presentDrivers()) {
  test(`followers read nothing for facts that they did not ask for (${driver.name})`, async () => {
    const { path, remove } = temporaryFolder();
    const calls: ObservedCall[] = [];
    const { events, close } = await openSqliteStores({
      path,
      driver: observedDriver(driver, (call) => calls.push(call)),
    });
    const streams = Array.from({ length: OWNERS }, (_, index) => `session-_.${index}`);
    await Promise.all(streams.map((stream) => store(events, stream, newFacts(1), 'none')));
    const given = new Map<string, FactBatch[]>();
    const follow = (name: string, source: { stream: string } | { all: true }): void => {
      const batches: FactBatch[] = [];
      given.set(name, batches);
      void (async () => {
        for await (const batch of events.subscribe(source, { types: ['Wanted'] })) batches.push(batch);
      })();
    };
    for (const stream of streams) follow(stream, { stream });
    follow('all', { all: true });
    await setTimeout(10);
    expect([...given.values()].every((batches) => batches.length === 1)).toBe(true);

    calls.length = 0;
    await Promise.all(streams.map((stream) => store(events, stream, newFacts(3), 0)));
    await setTimeout(10);
    const reads = calls.filter(
      ({ sql }) => /^select .* from (batch|stream)/s.test(sql) && !sql.startsWith('select id'),
    );
    expect(reads).toEqual([]);

    await store(events, 'session-_.7', newFacts(1, { type: 'Wanted' }), 3);
    await setTimeout(10);
    const revisions = (name: string): number[] =>
      (given.get(name) ?? []).flatMap(({ facts }) => facts.map(({ revision }) => revision));
    expect(revisions('session-_.7')).toEqual([4]);
    expect(revisions('all')).toEqual([4]);
    expect([...given.keys()].filter((name) => revisions(name).length > 0)).toEqual(['session-_.7', 'all']);
    await close();
    remove();
  });

  test(`another process is looked for only while somebody follows (${driver.name})`, async () => {
    const { path, remove } = temporaryFolder();
    const calls: ObservedCall[] = [];
    const { events, close } = await openSqliteStores({
      path,
      driver: observedDriver(driver, (call) => calls.push(call)),
    });
    const polls = (): number => calls.filter(({ sql, verb }) => verb === 'get' && sql === 'pragma data_version').length;
    await setTimeout(80);
    expect(polls()).toBe(0);
    const iterator = events.subscribe({ all: true })[Symbol.asyncIterator]();
    await iterator.next();
    const before = polls();
    while (polls() < before + 2) await setTimeout(5);
    await iterator.return?.();
    const after = polls();
    await setTimeout(80);
    expect(polls()).toBe(after);
    await close();
    remove();
  });
}
