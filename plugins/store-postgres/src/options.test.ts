import { inspect } from 'node:util';
import { afterEach, expect, inject, test } from 'vitest';
import { openPostgresStores } from './open-postgres-stores.js';
import { readOptions, type PostgresStoresOptions } from './options.js';
import { temporaryStores, type TemporaryStores } from './temporary-stores.fixture.js';

let stores: TemporaryStores | undefined;
afterEach(() => stores?.dispose());

const SECRET = 'hunter2%2Fsecret';
const secrets = [SECRET, decodeURIComponent(SECRET)];

/** Everything that a log could show of what opening fails with. */
async function failure(options: PostgresStoresOptions): Promise<{ error: unknown; text: string }> {
  const error: unknown = await openPostgresStores(options).then(
    () => expect.fail('it opened'),
    (thrown: unknown) => thrown,
  );
  const text = `${String(error)} ${JSON.stringify(error)} ${inspect(error, { depth: 9, showHidden: true })}`;
  return { error, text };
}

function withPassword(password: string): string {
  const url = new URL(inject('postgresTcpUrl'));
  url.password = password;
  return url.href;
}

test('the parts of an address serve as well as an address, and a function gives the password', async () => {
  const { hostname: host, port, username: user, password, pathname } = new URL(inject('postgresTcpUrl'));
  stores = temporaryStores();
  let asked = 0;
  const opened = await openPostgresStores({
    ...{ host, port: Number(port), user, database: pathname.slice(1), schema: stores.schema },
    password: async () => {
      asked += 1;
      return decodeURIComponent(password);
    },
  });
  expect((await opened.events.read('session-_.a')).head).toBe('none');
  expect(asked).toBeGreaterThan(0);
  expect(inspect(opened, { depth: 9, showHidden: true })).not.toContain(decodeURIComponent(password));
  await opened.close();
});

test('a refused password, a missing database or server say so, and no error tells the password', async () => {
  const refused = await failure({ url: withPassword(SECRET) });
  expect(refused.error).toMatchObject({ code: 'PERDURE_CONFIGURATION', data: { field: 'password' } });
  const missing = new URL(inject('postgresTcpUrl'));
  missing.pathname = '/no_such_database';
  expect((await failure({ url: missing.href })).error).toMatchObject({
    code: 'PERDURE_CONFIGURATION',
    data: { field: 'database' },
  });
  const nobody = await failure({ url: `postgres://perdure:${SECRET}@127.0.0.1:1/postgres` });
  expect(nobody.error).toMatchObject({ code: 'PERDURE_STORE_UNAVAILABLE' });
  const unreadable = await failure({ url: `postgres://perdure:${SECRET}@127.0.0.1:port/postgres` });
  expect(unreadable.error).toMatchObject({ code: 'PERDURE_INPUT_INVALID', data: { field: 'url' } });
  const badEscape = await failure({ url: `postgres://perdure:%zz${SECRET}@127.0.0.1/postgres` });
  expect(badEscape.error).toMatchObject({ code: 'PERDURE_INPUT_INVALID', data: { field: 'url' } });
  const noFile = await failure({ url: `${withPassword(SECRET)}?sslrootcert=/no/such/file` });
  expect(noFile.error).toMatchObject({ code: 'PERDURE_STORE_UNAVAILABLE' });
  for (const { text } of [refused, nobody, unreadable, badEscape, noFile]) {
    for (const secret of secrets) expect(text).not.toContain(secret);
  }
});

test('options that are not valid name their field', () => {
  const cases: [string, object][] = [
    ['url', { url: 'mysql://host/db' }],
    ['url', { url: 7 }],
    ['host', { url: 'postgres://host/db', host: 'other' }],
    ['password', { url: 'postgres://host/db', password: 'x' }],
    ['connections', { connections: 0 }],
    ['queryTimeoutMs', { queryTimeoutMs: 1.5 }],
    ['pollMs', { pollMs: '1' }],
  ];
  for (const [field, options] of cases) {
    expect(() => readOptions(options), JSON.stringify(options)).toThrow(
      expect.objectContaining({ code: 'PERDURE_INPUT_INVALID', data: expect.objectContaining({ field }) }),
    );
  }
});
