import { describe, expect, test } from 'vitest';
import type { SqliteConnection } from './driver.js';
import { newFacts, readAll, store } from './facts.fixture.js';
import { observedDriver } from './observed-driver.fixture.js';
import { openSqliteStores } from './open-sqlite-stores.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';

const STREAM = 'session-_.a';
const LARGE = { payload: JSON.stringify('x'.repeat(3_000)) };

for (const driver of await presentDrivers()) {
  describe(`a full disk (${driver.name})`, () => {
    const open = async (): Promise<{
      readonly stores: Awaited<ReturnType<typeof openSqliteStores>>;
      /** Lets the file grow by so many pages, or without a limit. */
      readonly limit: (pages: number | undefined) => void;
      readonly remove: () => void;
    }> => {
      const { path, remove } = temporaryFolder();
      let connection: SqliteConnection | undefined;
      const observed = observedDriver(driver, (call) => {
        connection = call.connection;
      });
      const stores = await openSqliteStores({ path, driver: observed });
      const limit = (pages: number | undefined): void => {
        const now = Object.values(connection?.prepare('pragma page_count').get() as object)[0] as number;
        connection?.exec(`pragma max_page_count = ${pages === undefined ? 1_000_000 : now + pages}`);
      };
      return { stores, limit, remove };
    };

    test('refuses the append that has no room, keeps what was stored, and goes on when there is room', async () => {
      const { stores, limit, remove } = await open();
      const { events } = stores;
      const kept = newFacts(2);
      let head = await store(events, STREAM, kept, 'none');
      limit(10);
      const facts = [...kept];
      let refused = newFacts(2, LARGE);
      for (;;) {
        const result = await events.append(STREAM, refused, { expected: head }).catch((error: unknown) => error);
        if (result instanceof Error) {
          expect(result).toMatchObject({ code: 'PERDURE_STORE_FULL' });
          break;
        }
        expect(result).toMatchObject({ status: 'stored' });
        head += 2;
        facts.push(...refused);
        refused = newFacts(2, LARGE);
      }
      expect((await readAll(events, STREAM)).map(({ id }) => id)).toEqual(facts.map(({ id }) => id));
      limit(undefined);
      expect(await store(events, STREAM, refused, head)).toBe(head + 2);
      expect(await readAll(events, STREAM)).toHaveLength(facts.length + 2);
      await stores.close();
      remove();
    });

    test('gives each append of a shared transaction its own outcome', async () => {
      const { stores, limit, remove } = await open();
      const { events } = stores;
      const streams = Array.from({ length: 30 }, (_, index) => `session-_.${index}`);
      for (const stream of streams) await store(events, stream, newFacts(1), 'none');
      limit(30);
      const results = await Promise.allSettled(
        streams.map((stream, index) =>
          events.append(stream, newFacts(1, index % 2 === 0 ? LARGE : {}), { expected: index === 7 ? 5 : 0 }),
        ),
      );
      const outcomes = results.map((result) => {
        if (result.status === 'fulfilled') return result.value.status;
        expect(result.reason).toMatchObject({ code: 'PERDURE_STORE_FULL' });
        return 'full';
      });
      expect(new Set(outcomes)).toEqual(new Set(['stored', 'conflict', 'full']));
      expect(outcomes[7]).toBe('conflict');
      limit(undefined);
      for (const [index, stream] of streams.entries()) {
        expect(await readAll(events, stream)).toHaveLength(outcomes[index] === 'stored' ? 2 : 1);
      }
      await stores.close();
      remove();
    });

    test('forgets a stream that was made in a transaction that had no room', async () => {
      const { stores, limit, remove } = await open();
      const { events } = stores;
      await store(events, 'session-_.busy', newFacts(1), 'none');
      limit(8);
      const results = await Promise.allSettled([
        events.append('session-_.small', newFacts(1), { expected: 'none' }),
        events.append('session-_.large', newFacts(9, LARGE), { expected: 'none' }),
      ]);
      expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
      limit(undefined);
      await store(events, 'session-_.next', newFacts(1), 'none');
      expect(await events.append('session-_.large', newFacts(1), { expected: 0 })).toEqual({
        status: 'conflict',
        actual: 'none',
      });
      for (const name of ['small', 'next']) expect(await readAll(events, `session-_.${name}`)).toHaveLength(1);
      await stores.close();
      remove();
    });

    test('refuses drafts, projections, artifacts and snapshots too', async () => {
      const { stores, limit, remove } = await open();
      limit(0);
      const full = { code: 'PERDURE_STORE_FULL' };
      const large = 'x'.repeat(100_000);
      const row = { key: 'a', value: large };
      const draft = stores.events.append('draft-_.a', newFacts(1, { payload: JSON.stringify(large) }), {
        expected: 'none',
      });
      await expect(draft).rejects.toMatchObject(full);
      const change = { expected: undefined, checkpoint: '1', put: [row], remove: [] };
      await expect(stores.projections.commit('list', change)).rejects.toMatchObject(full);
      await expect(stores.artifacts.put(undefined, Buffer.from(large))).rejects.toMatchObject(full);
      limit(undefined);
      expect(await stores.events.read('draft-_.a')).toEqual({ facts: [], head: 'none' });
      expect(await stores.projections.rows('list')).toEqual([]);
      expect(await stores.projections.checkpoint('list')).toBeUndefined();
      expect(
        await stores.artifacts.get(undefined, await stores.artifacts.put(undefined, Buffer.from(large))),
      ).toHaveLength(100_000);
      await stores.close();
      remove();
    });
  });
}
