import type { SessionSnapshotV1 } from '@perdure/events';
import type { SnapshotStore } from '@perdure/plugin-api';
import { expect } from 'vitest';
import { expectError, expectInvalidSnapshot } from '../expect-error.js';
import type { StoreUnderTest } from '../place.js';
import { snapshotStoreRequirements, type SnapshotStoreRequirement } from '../requirements.js';
import { defineSuite, type Suite } from '../suite.js';
import { snapshotOf } from './snapshot.js';

type SnapshotStoreSuite = Suite<SnapshotStore, SnapshotStoreRequirement>;

const KEYS = ['_.s1', 'acme.s1', 'ACME.s1', '😀', 'a key with spaces'];

/** Registers the tests of everything that the port `SnapshotStore` promises. */
export function describeSnapshotStore(under: StoreUnderTest<SnapshotStore>): void {
  defineSuite('SnapshotStore', snapshotStoreRequirements, under, ({ verify }: SnapshotStoreSuite) => {
    verify('snapshot-store:save:whole', async ({ store }) => {
      await store.save('k', snapshotOf('s1', 3));
      expect(await store.load('k')).toEqual(snapshotOf('s1', 3));
      await store.save('k', snapshotOf('s1', 500));
      await store.save('other', snapshotOf('s2', 1));
      expect(await store.load('k')).toEqual(snapshotOf('s1', 500));
      await store.save('k', snapshotOf('s1', 0));
      expect(await store.load('k')).toEqual(snapshotOf('s1', 0));
    });

    verify('snapshot-store:save:copy', async ({ store }) => {
      const saved = snapshotOf('s1', 2);
      await store.save('k', saved);
      (saved.trace_events as unknown[]).push('later');
      expect(await store.load('k')).toEqual(snapshotOf('s1', 2));
      const loaded = await store.load('k');
      (loaded?.trace_events as unknown[] | undefined)?.push('later');
      expect(await store.load('k')).toEqual(snapshotOf('s1', 2));
    });

    verify('snapshot-store:save:concurrent', async ({ store }) => {
      await store.save('k', snapshotOf('s1', 0));
      const work: Promise<SessionSnapshotV1 | undefined | void>[] = [];
      for (let round = 1; round <= 20; round++) {
        work.push(store.save('k', snapshotOf('s1', round)), store.load('k'));
      }
      for (const loaded of await Promise.all(work)) {
        if (loaded) expect(loaded).toEqual(snapshotOf('s1', loaded.session.messages.length));
      }
    });

    verify('snapshot-store:save:input', async ({ store }) => {
      await store.save('k', snapshotOf('s1', 1));
      const save = (value: unknown) => () => store.save('k', value as SessionSnapshotV1);
      await expectInvalidSnapshot('schema_version', save({ ...snapshotOf('s1', 2), schema_version: 2 }));
      await expectInvalidSnapshot('session', save({ schema_version: 1 }));
      await expectInvalidSnapshot('session.messages.1.sequence', save(repeated(snapshotOf('s1', 2))));
      // What came before the aggregate is read and never written.
      const { session } = snapshotOf('s1', 2);
      await expectInvalidSnapshot('schema_version', save(session));
      for (const value of [undefined, null, 'text', []]) await expectInvalidSnapshot('snapshot', save(value));
      const circular: Record<string, unknown> = { ...snapshotOf('s1', 2) };
      circular['more'] = [circular];
      await expectInvalidSnapshot('snapshot', save(circular));
      await expectError('PERDURE_INPUT_INVALID', () => store.save('', snapshotOf('s1', 1)));
      expect(await store.load('k')).toEqual(snapshotOf('s1', 1));
    });

    verify('snapshot-store:save:unknown-members', async ({ store }) => {
      const { session, ...parts } = snapshotOf('s1', 1);
      const saved = { ...parts, session: { ...session, later: [1] }, later: { of: 'another build' } };
      await store.save('k', saved);
      expect(await store.load('k')).toEqual(saved);
    });

    verify('snapshot-store:save:unsupported', async ({ store }) => {
      if (store.atomic) await store.save('k', snapshotOf('s1', 1));
      else await expectError('PERDURE_SNAPSHOT_UNSUPPORTED', () => store.save('k', snapshotOf('s1', 1)));
      expect(await store.list()).toEqual(store.atomic ? ['k'] : []);
    });

    verify('snapshot-store:load:missing', async ({ store }) => {
      await store.save('k', snapshotOf('s1', 1));
      expect(await store.load('K')).toBeUndefined();
      expect(await store.load('k ')).toBeUndefined();
    });

    verify('snapshot-store:list:keys', async ({ store }) => {
      expect(await store.list()).toEqual([]);
      for (const key of [...KEYS, ...KEYS]) await store.save(key, snapshotOf(key, 1));
      expect([...(await store.list())].sort()).toEqual(KEYS.toSorted());
      for (const key of KEYS) expect((await store.load(key))?.session.id).toBe(key);
    });

    verify('snapshot-store:delete:key', async ({ store }) => {
      for (const key of KEYS) await store.save(key, snapshotOf(key, 1));
      await store.delete('acme.s1');
      await store.delete('acme.s1');
      await store.delete('missing');
      expect(await store.load('acme.s1')).toBeUndefined();
      expect([...(await store.list())].sort()).toEqual(KEYS.filter((key) => key !== 'acme.s1').toSorted());
    });

    verify('snapshot-store:close:calls', async ({ store }) => {
      await store.close();
      await store.close();
      await expectError('PERDURE_STORE_CLOSED', () => store.save('k', snapshotOf('s1', 1)));
      await expectError('PERDURE_STORE_CLOSED', () => store.load('k'));
      await expectError('PERDURE_STORE_CLOSED', () => store.list());
      await expectError('PERDURE_STORE_CLOSED', () => store.delete('k'));
    });

    verify('snapshot-store:shared:save', async ({ store, openSecond }) => {
      const second = await openSecond();
      await store.save('k', snapshotOf('s1', 4));
      expect(await second.load('k')).toEqual(snapshotOf('s1', 4));
      await second.delete('k');
      expect(await store.load('k')).toBeUndefined();
    });

    verify('snapshot-store:durable:reopen', async ({ store, reopen }) => {
      for (const key of KEYS) await store.save(key, snapshotOf(key, 2));
      await store.close();
      const again = await reopen();
      for (const key of KEYS) expect(await again.load(key)).toEqual(snapshotOf(key, 2));
      expect(await again.list()).toHaveLength(KEYS.length);
    });
  });
}

/** The same message twice. */
function repeated(snapshot: SessionSnapshotV1): unknown {
  const { session } = snapshot;
  return { ...snapshot, session: { ...session, messages: [session.messages[0], session.messages[0]] } };
}
