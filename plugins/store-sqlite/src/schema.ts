import { PerdureError } from '@perdure/plugin-api';
import type { SqliteConnection } from './driver.js';
import { damaged } from './sqlite-error.js';

/** Grows with every change of the tables. A build refuses a file with a larger one. */
export const SCHEMA_VERSION = 1;

/** Marks the file as one of Perdure: "PERD". */
const APPLICATION_ID = 0x50455244;

const STREAM_COLUMNS = `id integer primary key, name text not null unique, head integer not null,
  cut integer not null, seal integer not null`;

/** A row that holds one append, but for its place. The order matters: see packing.ts. */
const BATCH_COLUMNS = `stream integer not null, first integer not null, revision integer not null, shape text not null,
  ids blob not null, metadata text not null, body text not null, detail text`;

/** The position of the last fact that was ever stored. */
export const LAST_FACT = `max(coalesce((select max(position) from batch), 0),
  coalesce((select last from hole order by first desc limit 1), 0))`;

/** The same for drafts and leases. */
export const LAST_WEAK = `max(coalesce((select max(position) from weak_batch), 0),
  (select value from counter where name = 'weak'))`;

/** Where a row of facts would begin, if it is added. */
const NEW_BEGINNING = 'new.position - new.revision + new.first - 1';

/**
 * Facts: one row per append. `position` and `revision` are those of its last fact, `first` is the revision of its first
 * one; `cut` is the first revision that was not truncated. `hole` lists positions whose rows were deleted, so that no
 * other row can be missing unseen.
 *
 * Drafts and leases: the same, counted apart (see position.ts), with the last position of a fact in `after`; `head` of
 * their streams is kept up to date only when rows are deleted, so that an append writes a page less.
 *
 * The triggers let a row in only where it joins its stream and the store: anything else adds nothing. So an append is
 * one statement.
 *
 * Chunks of an artifact have the place `artifact * 65536 + number`. Keys of rows and snapshots are UTF-16BE, whose
 * bytes sort like code units.
 */
const TABLES = `
  create table stream (${STREAM_COLUMNS}) strict;
  create table batch (position integer primary key, ${BATCH_COLUMNS}) strict;
  create unique index batch_place on batch (stream, revision);
  create table hole (first integer primary key, last integer not null) strict;
  create table weak_stream (${STREAM_COLUMNS}) strict;
  create table weak_batch (position integer primary key, after integer not null, ${BATCH_COLUMNS}) strict;
  create unique index weak_batch_place on weak_batch (stream, revision);
  create table counter (name text primary key, value integer not null) strict;
  insert into counter values ('weak', 0), ('lost', 0);

  create trigger batch_joins before insert on batch begin
    select raise(ignore) where ${NEW_BEGINNING} is not ${LAST_FACT};
    update stream set head = new.revision where id = new.stream and head = new.first - 1;
    select raise(ignore) where changes() = 0;
  end;
  create trigger weak_batch_joins before insert on weak_batch begin
    select raise(ignore) where ${NEW_BEGINNING} is not ${LAST_WEAK} or new.after is not ${LAST_FACT}
      or new.first - 1 is not coalesce((select max(revision) from weak_batch where stream = new.stream),
        (select head from weak_stream where id = new.stream));
  end;

  create table artifact (id integer primary key, owner text not null, digest text not null, size integer not null,
    seal integer not null) strict;
  create unique index artifact_digest on artifact (owner, digest);
  create table artifact_chunk (place integer primary key, seal integer not null, bytes blob not null) strict;
  create table projection (id integer primary key, name text not null unique, checkpoint text) strict;
  create table projection_row (id integer primary key, projection integer not null, key blob not null,
    seal integer not null, value text not null) strict;
  create unique index projection_row_key on projection_row (projection, key);
  create table snapshot (id integer primary key, key blob not null unique, seal integer not null,
    value text not null) strict;
`;

/** `empty`: a file in which nothing was ever made. Throws when the file is another build's or another program's. */
export function checkSchema(connection: SqliteConnection): 'empty' | 'present' {
  const actual = pragmaNumber(connection, 'user_version');
  const application = pragmaNumber(connection, 'application_id');
  const tables = Object.values(connection.prepare('select count(*) from sqlite_schema').get() as object)[0] as number;
  if (tables === 0 && actual === 0 && application === 0) return 'empty';
  if (application !== APPLICATION_ID) throw damaged('the file is a database, but not one of Perdure');
  if (actual > SCHEMA_VERSION) {
    throw new PerdureError('PERDURE_STORE_NEWER', { actual, expected: SCHEMA_VERSION });
  }
  if (actual !== SCHEMA_VERSION) throw damaged(`the schema has the version ${actual}, which never was`);
  return 'present';
}

/** Makes the tables, unless another process was first. Small pages: a commit rewrites whole pages. */
export function createSchema(connection: SqliteConnection): void {
  connection.exec('begin immediate');
  try {
    if (checkSchema(connection) === 'empty') {
      connection.exec(TABLES);
      connection.exec(`pragma application_id = ${APPLICATION_ID}`);
      connection.exec(`pragma user_version = ${SCHEMA_VERSION}`);
    }
    connection.exec('commit');
  } catch (error) {
    connection.exec('rollback');
    throw error;
  }
}

export function pragmaNumber(connection: SqliteConnection, name: string): number {
  return Number(Object.values(connection.prepare(`pragma ${name}`).get() as object)[0]);
}
