import { expect } from 'vitest';
import { expectError, expectInvalid } from '../expect-error.js';
import { change, PROJECTION, rowsOf, type ProjectionStoreSuite } from './projection-store-suite.js';

const STORED = { status: 'stored' };

/** Commit, checkpoint, clear and the place. */
export function verifyCommit({ verify }: ProjectionStoreSuite): void {
  verify('projection-store:checkpoint:first', async ({ store }) => {
    expect(await store.checkpoint(PROJECTION)).toBeUndefined();
    expect(await store.rows(PROJECTION)).toEqual([]);
    expect(await store.commit(PROJECTION, change({ expected: '1' }))).toEqual({
      status: 'conflict',
      actual: undefined,
    });
  });

  verify('projection-store:commit:rows', async ({ store }) => {
    expect(await store.commit(PROJECTION, change({ put: rowsOf('a', 'b', 'c') }))).toEqual(STORED);
    expect(await store.checkpoint(PROJECTION)).toBe('1');
    expect(await store.rows(PROJECTION)).toEqual(rowsOf('a', 'b', 'c'));
    const put = [{ key: 'b', value: 'replaced' }, ...rowsOf('d')];
    const second = change({ expected: '1', checkpoint: '2', put, remove: ['a', 'missing'] });
    expect(await store.commit(PROJECTION, second)).toEqual(STORED);
    expect(await store.rows(PROJECTION)).toEqual([put[0], ...rowsOf('c', 'd')]);
    expect(await store.commit(PROJECTION, change({ expected: '2', checkpoint: '2' }))).toEqual(STORED);
    expect(await store.checkpoint(PROJECTION)).toBe('2');
  });

  verify('projection-store:commit:compare-and-set', async ({ store }) => {
    await store.commit(PROJECTION, change({ checkpoint: '5', put: rowsOf('a') }));
    for (const expected of [undefined, '4', '6', '', '05']) {
      const late = change({ expected, checkpoint: '6', put: rowsOf('b'), remove: ['a'] });
      expect(await store.commit(PROJECTION, late)).toEqual({ status: 'conflict', actual: '5' });
    }
    expect(await store.rows(PROJECTION)).toEqual(rowsOf('a'));
    expect(await store.checkpoint(PROJECTION)).toBe('5');
  });

  verify('projection-store:commit:one-winner', async ({ store }) => {
    for (const expected of [undefined, '0']) {
      const changes = Array.from({ length: 8 }, (_, index) =>
        change({
          expected,
          checkpoint: expected === undefined ? '0' : `${index + 1}`,
          put: rowsOf(`${expected}-${index}`),
        }),
      );
      const results = await Promise.all(changes.map((each) => store.commit(PROJECTION, each)));
      expect(results.filter(({ status }) => status === 'stored')).toHaveLength(1);
    }
    expect(await store.rows(PROJECTION)).toHaveLength(2);
  });

  verify('projection-store:commit:apart', async ({ store }) => {
    const names = ['a', 'A', 'a:b', 'ab'];
    for (const name of names) await store.commit(name, change({ checkpoint: name, put: rowsOf(name, 'same') }));
    await store.commit('a', change({ expected: 'a', checkpoint: '2', remove: ['same'] }));
    await store.clear('ab');
    expect(await store.rows('a')).toEqual(rowsOf('a'));
    expect(await store.rows('A')).toEqual(rowsOf('A', 'same'));
    expect(await store.rows('ab')).toEqual([]);
    expect(await store.checkpoint('a:b')).toBe('a:b');
  });

  verify('projection-store:commit:input', async ({ store }) => {
    await store.commit(PROJECTION, change({ put: rowsOf('a') }));
    const commit = (projection: unknown, members: object) => () =>
      store.commit(projection as string, { ...change({ expected: '1', checkpoint: '2' }), ...members });
    await expectInvalid('projection', commit('', {}));
    await expectInvalid('checkpoint', commit(PROJECTION, { checkpoint: undefined }));
    await expectInvalid('expected', commit(PROJECTION, { expected: 7 }));
    await expectInvalid('put', commit(PROJECTION, { put: 'rows' }));
    await expectInvalid('put[1].key', commit(PROJECTION, { put: [...rowsOf('b'), { value: 'x' }] }));
    await expectInvalid('put[0].value', commit(PROJECTION, { put: [{ key: 'b', value: { a: 1 } }] }));
    await expectInvalid('remove[0]', commit(PROJECTION, { put: rowsOf('b'), remove: [1] }));
    expect(await store.rows(PROJECTION)).toEqual(rowsOf('a'));
    expect(await store.checkpoint(PROJECTION)).toBe('1');
  });

  verify('projection-store:clear:all', async ({ store }) => {
    await store.clear(PROJECTION);
    await store.commit(PROJECTION, change({ put: rowsOf('a', 'b') }));
    await store.clear(PROJECTION);
    expect(await store.checkpoint(PROJECTION)).toBeUndefined();
    expect(await store.rows(PROJECTION)).toEqual([]);
    expect(await store.commit(PROJECTION, change({ put: rowsOf('c') }))).toEqual(STORED);
    expect(await store.rows(PROJECTION)).toEqual(rowsOf('c'));
  });

  verify('projection-store:close:calls', async ({ store }) => {
    await store.commit(PROJECTION, change({}));
    await store.close();
    await store.close();
    await expectError('PERDURE_STORE_CLOSED', () => store.checkpoint(PROJECTION));
    await expectError('PERDURE_STORE_CLOSED', () => store.rows(PROJECTION));
    await expectError('PERDURE_STORE_CLOSED', () => store.commit(PROJECTION, change({ expected: '1' })));
    await expectError('PERDURE_STORE_CLOSED', () => store.clear(PROJECTION));
  });

  verify('projection-store:shared:compare-and-set', async ({ store, openSecond }) => {
    const second = await openSecond();
    expect(await store.commit(PROJECTION, change({ put: rowsOf('a') }))).toEqual(STORED);
    expect(await second.commit(PROJECTION, change({ put: rowsOf('b') }))).toEqual({ status: 'conflict', actual: '1' });
    const next = change({ expected: '1', checkpoint: '2', put: rowsOf('b') });
    expect(await second.commit(PROJECTION, next)).toEqual(STORED);
    expect(await store.commit(PROJECTION, next)).toEqual({ status: 'conflict', actual: '2' });
    expect(await store.rows(PROJECTION)).toEqual(rowsOf('a', 'b'));
  });

  verify('projection-store:durable:reopen', async ({ store, reopen }) => {
    await store.commit(PROJECTION, change({ put: rowsOf('a', 'b') }));
    await store.commit(PROJECTION, change({ expected: '1', checkpoint: '2', remove: ['a'] }));
    await store.close();
    const again = await reopen();
    expect(await again.checkpoint(PROJECTION)).toBe('2');
    expect(await again.rows(PROJECTION)).toEqual(rowsOf('b'));
  });
}
