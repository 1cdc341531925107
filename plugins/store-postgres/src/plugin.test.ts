import { readFileSync } from 'node:fs';
import { createTestRuntime } from '@perdure/core/testing';
import type { EventStore, Token } from '@perdure/plugin-api';
import { afterEach, expect, inject, test } from 'vitest';
import { fixtureCommand, startChild } from './child-process.fixture.js';
import storePostgres from './index.js';
import { temporaryStores, type TemporaryStores } from './temporary-stores.fixture.js';

let stores: TemporaryStores | undefined;
afterEach(() => stores?.dispose());

test('the plugin provides every store, and closes them when it stops', async () => {
  stores = temporaryStores();
  const provided = new Map<string, unknown>();
  const config = storePostgres.config.parse({ url: inject('postgresUrl'), schema: stores.schema });
  const life = await storePostgres.setup({
    config,
    get: () => expect.fail('it needs nothing'),
    find: () => undefined,
    provide: (token, value) => provided.set(token.name, value),
  });
  const names = storePostgres.provides.map(({ name }: Token<unknown>) => name);
  expect([...provided.keys()].toSorted()).toEqual(names.toSorted());
  const events = provided.get('event-store') as EventStore;
  expect(await events.read('session-_.a')).toEqual({ facts: [], head: 'none' });
  await life.stop?.();
  await expect(events.read('session-_.a')).rejects.toMatchObject({ code: 'PERDURE_STORE_CLOSED' });
});

test('a runtime loads it, and stops it with itself', async () => {
  stores = temporaryStores();
  const config = { url: inject('postgresUrl'), schema: stores.schema };
  const runtime = await createTestRuntime({ plugins: [{ plugin: storePostgres, config }] });
  expect(runtime.services.store.name).toBe('postgres');
  await runtime.dispose();
});

test('package.json tells what the plugin provides', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string;
    perdure: { plugin: string; api: number; provides: string[] };
  };
  const { version, api, provides } = storePostgres;
  expect(manifest.version).toBe(version);
  expect(manifest.perdure).toEqual({ plugin: '.', api, provides: provides.map(({ name }) => name) });
});

test('configuration that is not valid is refused', () => {
  const { config } = storePostgres;
  for (const wrong of [{ url: '' }, { port: 0 }, { file: 'x' }, { ssl: { ca: 7 } }, { password: 7 }, { pollMs: 0 }]) {
    expect(config.safeParse(wrong).success, JSON.stringify(wrong)).toBe(false);
  }
  for (const right of [{}, { url: 'postgres://h/d', ssl: true }, { host: 'h', password: () => 'p', port: 1 }]) {
    expect(config.safeParse(right).success, JSON.stringify(right)).toBe(true);
  }
});

test('a process that closes its stores ends by itself, also while it follows', { timeout: 60_000 }, async () => {
  stores = temporaryStores();
  const child = startChild(fixtureCommand('closing', [inject('postgresUrl'), stores.schema]));
  expect(await child.end).toEqual({ code: 0, errors: '' });
  expect(child.lines).toEqual(['followed 1', 'closed']);
});
