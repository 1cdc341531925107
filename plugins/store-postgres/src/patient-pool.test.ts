import { expect, inject, test } from 'vitest';
import { Connections } from './connections.js';
import { readOptions } from './options.js';

const SLOW = { name: '', text: 'select pg_sleep(0.3)' };

test('a connection that others use is waited for longer than one may take to be made', async () => {
  const settings = readOptions({ url: inject('postgresUrl'), connections: 1, connectTimeoutMs: 500 });
  const connections = new Connections(settings, () => Promise.resolve());
  const answers = await Promise.all([1, 2, 3, 4].map(() => connections.query(SLOW, [])));
  expect(answers).toHaveLength(4);
  await connections.close();
});

test('when none can be made, all who wait are told at once', async () => {
  const settings = readOptions({ url: 'postgres://nobody@127.0.0.1:1/none', connections: 1 });
  const connections = new Connections(settings, () => Promise.resolve());
  const answers = await Promise.allSettled([1, 2, 3].map(() => connections.query(SLOW, [])));
  const expected = { status: 'rejected', reason: { code: 'PERDURE_STORE_UNAVAILABLE' } };
  expect(answers).toMatchObject([expected, expected, expected]);
  await connections.close();
});
