import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { EventStore, Token } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import { defaultPath } from './default-path.js';
import storeSqlite, { bundledDriver, openSqliteStores } from './index.js';
import { temporaryFolder } from './temporary-stores.fixture.js';

test('the plugin provides every store and the presence, and closes them when it stops', async () => {
  const { path, remove } = temporaryFolder();
  const provided = new Map<string, unknown>();
  const config = storeSqlite.config.parse({ path });
  const life = await storeSqlite.setup({
    config,
    get: () => expect.fail('it needs nothing'),
    find: () => undefined,
    provide: (token, value) => provided.set(token.name, value),
  });
  const names = storeSqlite.provides.map(({ name }: Token<unknown>) => name);
  expect([...provided.keys()].toSorted()).toEqual(names.toSorted());
  const events = provided.get('event-store') as EventStore;
  expect(await events.read('session-_.a')).toEqual({ facts: [], head: 'none' });
  await life.stop?.();
  await expect(events.read('session-_.a')).rejects.toMatchObject({ code: 'PERDURE_STORE_CLOSED' });
  remove();
});

test('package.json tells what the plugin provides', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
    perdure: { plugin: string; api: number; provides: string[] };
  };
  const { version, api, provides } = storeSqlite;
  expect(manifest.version).toBe(version);
  expect(manifest.perdure).toEqual({ plugin: '.', api, provides: provides.map(({ name }) => name) });
});

test('configuration that is not valid is refused', async () => {
  expect(storeSqlite.config.safeParse({ path: '' }).success).toBe(false);
  expect(storeSqlite.config.safeParse({ file: 'x' }).success).toBe(false);
  expect(storeSqlite.config.safeParse({ driver: 'sqlite' }).success).toBe(false);
  expect(storeSqlite.config.safeParse({ driver: await bundledDriver() }).success).toBe(true);
  for (const path of ['', 'a\0b', 7]) {
    await expect(openSqliteStores({ path: path as string })).rejects.toMatchObject({
      code: 'PERDURE_INPUT_INVALID',
      data: { field: 'path' },
    });
  }
});

test('the default path is outside of any workspace', () => {
  expect(defaultPath({ XDG_STATE_HOME: '/state' })).toBe(join('/state', 'perdure', 'perdure.db'));
  const home = join(homedir(), '.local', 'state', 'perdure', 'perdure.db');
  expect(defaultPath({})).toBe(home);
  expect(defaultPath({ XDG_STATE_HOME: 'relative' })).toBe(home);
});
