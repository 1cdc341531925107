import type { Names } from './names.js';

/**
 * Appends several batches in one transaction and one call. Positions are given under a lock that is held until the
 * commit: so a reader that sees a position sees all before it. The lock is held for the work of the server alone, never
 * while a node thinks or the network is slow. A batch that does not fit its stream is told so and harms no other.
 *
 * `first`, `middle` and `last` say where the payload and the metadata of a fact lie in `bytes`: payload from `first` to
 * before `middle`, metadata from there to before `last`, counted from 1. `outcome` is 0 for stored, 2 for stored before
 * (both with the position of the last fact), 1 for a conflict; `actual` is the last revision of the stream then, or -1
 * for none.
 */
export function appendFunction({ schema, appendLock, channel }: Names): string {
  return `
create function ${schema}.append_v1(in_keys bytea[], in_names text[], in_categories text[], in_expected bigint[],
  in_counts integer[], in_ids uuid[], in_types text[], in_details boolean[], in_first integer[], in_middle integer[],
  in_last integer[], in_bytes bytea)
returns table (outcome integer, actual bigint, place bigint) language plpgsql as $body$
declare
  v_end bigint;
  v_begin bigint;
  v_stream bigint;
  v_head bigint;
  v_cut bigint;
  v_count integer;
  v_from integer := 1;
  v_to integer;
begin
  perform pg_catalog.pg_advisory_xact_lock(${appendLock});
  select coalesce(max(f.position), 0) into v_end from ${schema}.fact f;
  v_begin := v_end;
  for v_index in 1 .. cardinality(in_keys) loop
    v_count := in_counts[v_index];
    v_to := v_from + v_count - 1;
    select s.id, s.head, s.cut into v_stream, v_head, v_cut from ${schema}.stream s where s.key = in_keys[v_index];
    if not found then
      v_head := -1;
      v_cut := 0;
    end if;
    if v_head = in_expected[v_index] then
      if v_head < 0 then
        insert into ${schema}.stream (key, name, category, head, cut)
          values (in_keys[v_index], in_names[v_index], in_categories[v_index], v_count - 1, 0)
          returning id into v_stream;
      else
        update ${schema}.stream s set head = v_head + v_count where s.id = v_stream;
      end if;
      insert into ${schema}.fact (position, stream, revision, id, detail, type, payload, metadata)
        select v_end + i.number, v_stream, v_head + i.number, i.id, i.detail, i.type,
          substr(in_bytes, i.first, i.middle - i.first), substr(in_bytes, i.middle, i.last - i.middle)
        from unnest(in_ids[v_from:v_to], in_details[v_from:v_to], in_types[v_from:v_to], in_first[v_from:v_to],
          in_middle[v_from:v_to], in_last[v_from:v_to]) with ordinality
          as i(id, detail, type, first, middle, last, number);
      v_end := v_end + v_count;
      outcome := 0;
      actual := v_head + v_count;
      place := v_end;
    else
      outcome := 1;
      actual := v_head;
      select max(f.position) into place from ${schema}.fact f
        where f.stream = v_stream and f.revision > in_expected[v_index] and f.revision >= v_cut
          and f.revision <= in_expected[v_index] + v_count
        having array_agg(f.id order by f.revision) = in_ids[v_from:v_to];
      if place is not null then
        outcome := 2;
        actual := in_expected[v_index] + v_count;
      end if;
    end if;
    return next;
    v_from := v_to + 1;
  end loop;
  if v_end > v_begin then
    perform pg_catalog.pg_notify('${channel}', v_end::text);
  end if;
end
$body$`;
}
