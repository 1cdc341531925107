import { readFileSync } from 'node:fs';
import type { ReceivedFact } from '@perdure/events';
import { startPostgresServer } from '@perdure/testing';
import { DatabaseSync } from '@photostructure/sqlite';
import pg from 'pg';

export type Row = Readonly<Record<string, string | number | null>>;

/** A database of an analytics team, with the table of facts and nothing else. */
export interface AnalyticsDatabase {
  /** Loads messages as the README says. */
  load(messages: readonly ReceivedFact[]): Promise<void>;
  /** The rows of a query; numbers of any kind are numbers. */
  query(sql: string): Promise<readonly Row[]>;
  close(): Promise<void>;
}

/** The text of a file in `plugins/relay-kafka/sql`. */
export function sqlFile(name: string): string {
  return readFileSync(new URL(`../../plugins/relay-kafka/sql/${name}.sql`, import.meta.url), 'utf8');
}

export async function postgresDatabase(): Promise<AnalyticsDatabase> {
  const server = await startPostgresServer();
  const client = new pg.Client({ connectionString: server.socketUrl });
  await client.connect();
  await client.query(sqlFile('facts-table'));
  return {
    async load(messages) {
      const rows = messages.map(({ source, value }) => ({ ...value, source }));
      await client.query(sqlFile('load-facts.postgresql'), [JSON.stringify(rows)]);
    },
    async query(sql) {
      const { rows, fields } = await client.query<Record<string, string | number | null>>(sql);
      // Sums and 64-bit numbers come as text.
      const textual = new Set(fields.filter(({ dataTypeID }) => dataTypeID === 25).map(({ name }) => name));
      return rows.map((row) => numbersIn(row, textual));
    },
    async close() {
      await client.end();
      await server.stop();
    },
  };
}

export async function sqliteDatabase(): Promise<AnalyticsDatabase> {
  const database = new DatabaseSync(':memory:');
  database.exec(sqlFile('facts-table'));
  const columns = database
    .prepare("select name from pragma_table_info('perdure_facts')")
    .all()
    .map((row) => String(Reflect.get(row as object, 'name')));
  const insert = database.prepare(
    `insert into perdure_facts (${columns.join()}) values (${columns.map(() => '?').join()}) on conflict do nothing`,
  );
  return {
    async load(messages) {
      for (const { source, value } of messages) {
        const fact = value.fact === null ? null : JSON.stringify(value.fact);
        const row: Readonly<Record<string, string | number | null>> = { ...value, source, fact };
        insert.run(...columns.map((column) => row[column] ?? null));
      }
    },
    async query(sql) {
      return database.prepare(sql).all() as Row[];
    },
    async close() {
      database.close();
    },
  };
}

function numbersIn(row: Row, textual: ReadonlySet<string>): Row {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, value === null || textual.has(name) ? value : Number(value)]),
  );
}
