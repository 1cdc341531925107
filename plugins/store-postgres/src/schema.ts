import { appendFunction } from './append-function.js';
import type { Names } from './names.js';

/** What leads from one version of the tables to the next. A step that was published is never changed. */
export type Migration = (names: Names) => readonly string[];

/** The version of the tables is the number of the steps that made them. */
export const migrations: readonly Migration[] = [firstTables];

/**
 * Facts: one row each, the bytes of payload and metadata as they were given. `stream.head` is the last revision, kept
 * apart from the rows so that rows which are missing at the end are missed; `stream.cut` is the first revision that was
 * not truncated. Positions have no gaps but for truncated facts.
 *
 * Names and keys may be longer than what an index takes: streams are found by the digest of their name, rows of
 * projections by the beginning of their key. Keys are UTF-16BE, whose bytes sort like code units.
 */
function firstTables(names: Names): readonly string[] {
  const { schema } = names;
  return [
    `create table ${schema}.stream (id bigint generated always as identity primary key, head bigint not null,
       cut bigint not null, key bytea not null unique, category text collate "C" not null,
       name text collate "C" not null) with (fillfactor = 70)`,
    `create table ${schema}.fact (position bigint primary key, stream bigint not null, revision bigint not null,
       id uuid not null, detail boolean not null, type text collate "C" not null, payload bytea not null,
       metadata bytea not null)`,
    `create unique index fact_place on ${schema}.fact (stream, revision)`,
    appendFunction(names),
    truncateFunction(names),
    `create table ${schema}.artifact (id bigint generated always as identity primary key, key bytea not null unique,
       owner text collate "C" not null, digest text collate "C" not null, size bigint not null)`,
    `create table ${schema}.artifact_chunk (artifact bigint not null references ${schema}.artifact on delete cascade,
       number integer not null, seal bigint not null, bytes bytea not null, primary key (artifact, number))`,
    `alter table ${schema}.artifact_chunk alter column bytes set storage external`,
    `create table ${schema}.projection (id bigint generated always as identity primary key, key bytea not null unique,
       name text collate "C" not null, checkpoint text collate "C")`,
    `create table ${schema}.projection_row (projection bigint not null
       references ${schema}.projection on delete cascade, key bytea not null, value text collate "C" not null)`,
    `create unique index projection_row_key on ${schema}.projection_row (projection, sha256(key))`,
    `create index projection_row_order on ${schema}.projection_row (projection, substring(key for 1000))`,
    commitFunction(names),
    `create table ${schema}.snapshot (key bytea not null unique, name text collate "C" not null, seal bigint not null,
       value text collate "C" not null)`,
  ];
}

/**
 * Hides the facts of a stream before a revision, and deletes at most `in_limit` of them; returns whether there may be
 * more to delete. The last row of the store stays, without its bytes, so that no position is given twice.
 */
function truncateFunction({ schema }: Names): string {
  return `
create function ${schema}.truncate_v1(in_key bytea, in_before bigint, in_limit integer, in_weak boolean)
returns boolean language plpgsql as $body$
declare
  v_stream bigint;
  v_cut bigint;
  v_end bigint;
  v_count bigint;
begin
  if in_weak then
    set local synchronous_commit = off;
  end if;
  update ${schema}.stream s set cut = greatest(s.cut, least(in_before, s.head + 1)) where s.key = in_key
    returning s.id, s.cut into v_stream, v_cut;
  if not found then
    return false;
  end if;
  select max(f.position) into v_end from ${schema}.fact f;
  delete from ${schema}.fact d where d.position in (select f.position from ${schema}.fact f
    where f.stream = v_stream and f.revision < v_cut and f.position < v_end order by f.revision limit in_limit);
  get diagnostics v_count = row_count;
  update ${schema}.fact f set payload = '', metadata = ''
    where f.stream = v_stream and f.revision < v_cut and f.position = v_end and f.payload <> '';
  return v_count = in_limit;
end
$body$`;
}

/**
 * Changes the rows and the checkpoint of a projection when its checkpoint is the expected one. `actual` is the
 * checkpoint that is there otherwise. The facts bring a commit again that was lost with the machine.
 */
function commitFunction({ schema }: Names): string {
  return `
create function ${schema}.commit_v1(in_key bytea, in_name text, in_expected text, in_checkpoint text, in_keys bytea[],
  in_values text[], in_removed bytea[], out stored boolean, out actual text) language plpgsql as $body$
declare
  v_projection bigint;
begin
  set local synchronous_commit = off;
  insert into ${schema}.projection (key, name) values (in_key, in_name) on conflict do nothing;
  select p.id, p.checkpoint into v_projection, actual from ${schema}.projection p where p.key = in_key for update;
  stored := actual is not distinct from in_expected;
  if not stored then
    return;
  end if;
  update ${schema}.projection p set checkpoint = in_checkpoint where p.id = v_projection;
  delete from ${schema}.projection_row r using unnest(in_removed) as removed(key)
    where r.projection = v_projection and sha256(r.key) = sha256(removed.key);
  insert into ${schema}.projection_row (projection, key, value)
    select distinct on (i.key) v_projection, i.key, i.value
    from unnest(in_keys, in_values) with ordinality as i(key, value, number) order by i.key, i.number desc
    on conflict (projection, sha256(key)) do update set value = excluded.value;
end
$body$`;
}
