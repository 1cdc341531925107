import { PerdureError } from '@perdure/plugin-api';
import type { Connections, Row, Transaction } from './connections.js';
import type { Names } from './names.js';
import { damaged } from './postgres-error.js';
import { migrations, type Migration } from './schema.js';

/**
 * Brings the tables to the version of this build. Nodes that start together wait for each other; one that finds the
 * version that it wants changes nothing and needs no right to. Throws PERDURE_STORE_NEWER for tables of a later build.
 */
export async function migrate(
  connections: Connections,
  names: Names,
  steps: readonly Migration[] = migrations,
): Promise<void> {
  await checkServer(connections);
  const found = await connections.transaction(async (transaction) => versionOf(transaction, names));
  if (isCurrent(found, steps.length)) return;
  await connections.transaction(async (transaction) => {
    await run(transaction, `select pg_advisory_xact_lock(${names.migrationLock})`);
    const version = await versionOf(transaction, names);
    if (isCurrent(version, steps.length)) return;
    const meta = `create schema if not exists ${names.schema};
      create table ${names.schema}.meta (name text primary key, value text not null)`;
    const statements = steps.slice(version ?? 0).flatMap((step) => step(names));
    await run(transaction, [...(version === undefined ? [meta] : []), ...statements].join(';\n'));
    await transaction.query(
      {
        name: '',
        text: `insert into ${names.schema}.meta (name, value) values ('version', $1)
          on conflict (name) do update set value = excluded.value`,
      },
      [String(steps.length)],
    );
  });
}

/** A promise of durability that the server does not keep must not be given. */
async function checkServer(connections: Connections): Promise<void> {
  const [row] = await connections.query(
    { name: '', text: `select current_setting('server_encoding'), current_setting('fsync')` },
    [],
  );
  const [encoding, fsync] = row ?? [];
  if (encoding !== 'UTF8') {
    throw new PerdureError('PERDURE_CONFIGURATION', {
      field: 'database',
      reason: `its encoding is ${String(encoding)}, it must be UTF8`,
    });
  }
  if (fsync !== 'on') {
    const reason = 'the server runs with fsync off, and would lose facts that it has acknowledged';
    throw new PerdureError('PERDURE_CONFIGURATION', { field: 'database', reason });
  }
}

/** `undefined` when no tables were made in the schema. */
async function versionOf(transaction: Transaction, { schema, schemaName }: Names): Promise<number | undefined> {
  // The catalogue itself: names that were looked for before are remembered by a connection, also as missing.
  const text = `select exists (select from pg_catalog.pg_class c join pg_catalog.pg_namespace n
    on n.oid = c.relnamespace where n.nspname = $1 and c.relname = 'meta')`;
  const [row] = await transaction.query({ name: '', text }, [schemaName]);
  if (row?.[0] !== true) return undefined;
  const [found] = await run(transaction, `select value from ${schema}.meta where name = 'version'`);
  const version = Number(found?.[0] ?? Number.NaN);
  if (!Number.isSafeInteger(version) || version < 1)
    throw damaged(`the schema "${schemaName}" does not tell its version`);
  return version;
}

function isCurrent(actual: number | undefined, expected: number): boolean {
  if (actual !== undefined && actual > expected) throw new PerdureError('PERDURE_STORE_NEWER', { actual, expected });
  return actual === expected;
}

function run(transaction: Transaction, text: string): Promise<readonly Row[]> {
  return transaction.query({ name: '', text }, []);
}
