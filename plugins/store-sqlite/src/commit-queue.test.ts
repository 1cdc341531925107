import { describe, expect, test } from 'vitest';
import { newFacts, readAll, store } from './facts.fixture.js';
import { observedDriver, type ObservedCall } from './observed-driver.fixture.js';
import { openSqliteStores, type SqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

const IS_TRANSACTION = /^begin immediate$/;
const IS_INSERT = /^insert into batch/;

for (const driver of await presentDrivers()) {
  describe(`transactions (${driver.name})`, () => {
    const open = async (): Promise<{
      readonly stores: SqliteStores;
      readonly calls: ObservedCall[];
      /** Makes statements fail as if the disk did, or lets them be. */
      readonly fail: (on: RegExp | undefined) => void;
      readonly end: () => Promise<void>;
    }> => {
      const { path, remove } = temporaryFolder();
      const calls: ObservedCall[] = [];
      let failing: (() => void) | undefined;
      const observed = observedDriver(driver, (call) => {
        calls.push(call);
        failing?.();
      });
      const stores = await openSqliteStores({ path, driver: observed });
      const fail = (on: RegExp | undefined): void => {
        failing = () => {
          const isMeant = on?.test(calls.at(-1)?.sql ?? '') === true;
          if (isMeant) throw Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 1034 });
        };
      };
      const end = async (): Promise<void> => {
        failing = undefined;
        await stores.close();
        remove();
      };
      return { stores, calls, fail, end };
    };
    const countOf = (calls: readonly ObservedCall[], sql: RegExp): number =>
      calls.filter((call) => sql.test(call.sql)).length;

    test('appends that wait in one turn share transactions of at most 50', async () => {
      const { stores, calls, end } = await open();
      calls.length = 0;
      const streams = Array.from({ length: 120 }, (_, index) => `session-_.${index}`);
      await Promise.all(streams.map((stream) => store(stores.events, stream, newFacts(1), 'none')));
      // The first one finds nobody waiting.
      expect(countOf(calls, IS_TRANSACTION)).toBe(1 + Math.ceil(119 / 50));
      expect(countOf(calls, IS_INSERT)).toBeGreaterThanOrEqual(120);
      for (const stream of streams) expect(await readAll(stores.events, stream)).toHaveLength(1);
      await end();
    });

    test('writers go on a few in each turn, and the next transaction holds what all of them bring', async () => {
      const { stores, calls, end } = await open();
      await store(stores.events, 'session-_.first', newFacts(1), 'none');
      const streams = Array.from({ length: 40 }, (_, index) => `session-_.${index}`);
      const turns: number[] = [];
      let told = 0;
      const write = async (stream: string): Promise<void> => {
        await store(stores.events, stream, newFacts(1), 'none');
        told += 1;
        await store(stores.events, stream, newFacts(1), 0);
      };
      calls.length = 0;
      const written = Promise.all(streams.map(write));
      while (told < streams.length) {
        const before = told;
        await new Promise(setImmediate);
        turns.push(told - before);
      }
      await written;
      // The first one finds nobody waiting. The others share one transaction, and their second facts another.
      expect(Math.max(...turns)).toBe(8);
      expect(countOf(calls, IS_TRANSACTION)).toBeLessThanOrEqual(3);
      await end();
    });

    test('the only active stream is committed inside append, as one statement', async () => {
      const { stores, calls, end } = await open();
      await store(stores.events, 'session-_.a', newFacts(1), 'none');
      for (let head = 0; head < 10; head++) {
        calls.length = 0;
        const appended = stores.events.append('session-_.a', newFacts(1), { expected: head });
        expect(calls.map(({ sql }) => IS_INSERT.test(sql))).toEqual([true]);
        expect(await appended).toMatchObject({ status: 'stored', revision: head + 1 });
      }
      await end();
    });

    test('a stream is committed at once again when the last four batches were its own', async () => {
      const { stores, calls, end } = await open();
      await store(stores.events, 'session-_.a', newFacts(1), 'none');
      await store(stores.events, 'session-_.b', newFacts(1), 'none');
      const atOnce: boolean[] = [];
      for (let head = 0; head < 6; head++) {
        calls.length = 0;
        const appended = stores.events.append('session-_.a', newFacts(1), { expected: head });
        atOnce.push(calls.length > 0);
        await appended;
      }
      expect(atOnce).toEqual([false, false, false, false, true, true]);
      await end();
    });

    test('drafts ride along in the transaction of a fact that commits in the same turn', async () => {
      const { stores, calls, end } = await open();
      await store(stores.events, 'session-_.a', newFacts(1), 'none');
      await store(stores.events, 'draft-_.a', newFacts(1), 'none');
      calls.length = 0;
      const draft = store(stores.events, 'draft-_.a', newFacts(1), 0);
      expect(calls).toEqual([]);
      await Promise.all([draft, store(stores.events, 'session-_.a', newFacts(1), 0)]);
      expect(countOf(calls, IS_TRANSACTION)).toBe(1);
      expect(countOf(calls, /^insert into (weak_)?batch/)).toBe(2);
      await end();
    });

    test('a commit whose outcome nobody knows is ambiguous, and the same batch again is stored', async () => {
      const { stores, fail, end } = await open();
      const first = newFacts(2);
      await store(stores.events, 'session-_.a', newFacts(1), 'none');
      fail(/^commit$/);
      const group = [
        stores.events.append('session-_.a', first, { expected: 0 }),
        stores.events.append('session-_.b', newFacts(1), { expected: 'none' }),
        stores.events.append('session-_.c', newFacts(1), { expected: 3 }),
      ];
      // The first one was tried at once and stands before the failure of the others.
      expect(await group[0]).toMatchObject({ status: 'stored' });
      for (const result of group.slice(1)) expect(await result).toMatchObject({ status: 'ambiguous' });
      fail(undefined);
      expect(await stores.events.read('session-_.b')).toEqual({ facts: [], head: 'none' });
      await store(stores.events, 'session-_.b', newFacts(1), 'none');
      await end();
    });

    test('a statement that fails at once is tried again in a transaction, which tells what is there', async () => {
      const { stores, fail, calls, end } = await open();
      await store(stores.events, 'session-_.a', newFacts(1), 'none');
      const facts = newFacts(2);
      fail(IS_INSERT);
      const appended = stores.events.append('session-_.a', facts, { expected: 0 });
      await expect(appended).rejects.toMatchObject({ code: 'PERDURE_STORE_UNAVAILABLE' });
      expect(countOf(calls, IS_TRANSACTION)).toBeGreaterThan(1);
      fail(undefined);
      expect(await store(stores.events, 'session-_.a', facts, 0)).toBe(2);
      expect(await store(stores.events, 'session-_.a', facts, 0)).toBe(2);
      expect(await readAll(stores.events, 'session-_.a')).toHaveLength(3);
      await end();
    });

    test('a conflict does not harm the others of its transaction', async () => {
      const { stores, end } = await open();
      const streams = Array.from({ length: 20 }, (_, index) => `session-_.${index}`);
      for (const stream of streams) await store(stores.events, stream, newFacts(1), 'none');
      const results = await Promise.all(
        streams.map((stream, index) =>
          stores.events.append(stream, newFacts(1), { expected: index % 4 === 0 ? 9 : 0 }),
        ),
      );
      expect(results.map(({ status }) => status)).toEqual(
        streams.map((_, index) => (index % 4 === 0 ? 'conflict' : 'stored')),
      );
      await end();
    });

    test('closing commits what waits', async () => {
      const { path, remove } = temporaryFolder();
      const stores = await openSqliteStores({ path, driver });
      const appends = Array.from({ length: 70 }, (_, index) =>
        stores.events.append(`session-_.${index}`, newFacts(1), { expected: 'none' }),
      );
      await stores.close();
      for (const append of appends) expect(await append).toMatchObject({ status: 'stored' });
      const again = await openSqliteStores({ path, driver });
      expect(await readAll(again.events, 'session-_.69')).toHaveLength(1);
      await again.close();
      remove();
    });
  });
}
