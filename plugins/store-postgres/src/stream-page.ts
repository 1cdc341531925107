import type { RecordedFact } from '@perdure/events';
import type { ReadPage } from '@perdure/plugin-api';
import type { Query, Row, Statement } from './connections.js';
import { streamKey } from './names.js';
import { positionText } from './position.js';
import { damaged, truncated } from './postgres-error.js';

export interface PageOptions {
  readonly from?: number | undefined;
  readonly backwards?: boolean | undefined;
  readonly limit: number;
  readonly omitDetail?: boolean | undefined;
  readonly types?: ReadonlySet<string> | undefined;
}

/** A page ends behind the fact that exceeds so many bytes. */
export const PAGE_BYTES = 2 * 1024 * 1024;

/** Facts without a filter join each other; what is missing between them is an error, never a shorter page. */
export async function readStreamPage(
  query: Query,
  schema: string,
  stream: string,
  options: PageOptions,
): Promise<ReadPage> {
  const { from, backwards = false, limit, omitDetail = false, types } = options;
  const rows = await query(pageStatement(schema, backwards), [
    streamKey(stream),
    from ?? null,
    limit + 1,
    omitDetail,
    types === undefined ? null : [...types],
    PAGE_BYTES,
  ]);
  const [first] = rows;
  if (first === undefined) return { facts: [], head: 'none' };
  const head = Number(first[0]);
  const cut = Number(first[1]);
  const facts = rows.flatMap((row) => (row[3] === null ? [] : [factOf(stream, row)]));
  const isFiltered = omitDetail || types !== undefined;
  const begin = backwards ? Math.min(from ?? head, head) : Math.max(from ?? 0, cut);
  const isEmpty = begin < cut || begin > head;
  if (first[2] !== true) await refuseLoss(query, schema, stream);
  const given = facts.slice(0, limit);
  // A page is at its end where the row behind it is not there; one that was cut by its size has not looked.
  const last = given.at(-1)?.revision;
  const isCut = rows.some((row) => row[8] === true);
  const next = facts[limit]?.revision ?? (isCut && last !== undefined ? last + (backwards ? -1 : 1) : undefined);
  if (!isFiltered && !isEmpty) checkJoints(stream, given, begin, next ?? (backwards ? cut - 1 : head + 1), backwards);
  if (next === undefined || next < cut || next > head) return { facts: given, head };
  return { facts: given, head, next };
}

/**
 * One statement, so that head, cut and facts are of one moment. The size is measured before payloads are fetched. The
 * columns: head, cut, whether the last fact is there, the fact, whether the page ends here by its size.
 */
function pageStatement(schema: string, backwards: boolean): Statement {
  const order = backwards ? 'desc' : 'asc';
  const range = backwards
    ? 'f.revision >= s.cut and f.revision <= least(coalesce($2::bigint, s.head), s.head)'
    : 'f.revision >= greatest(coalesce($2::bigint, 0), s.cut) and f.revision <= s.head';
  return {
    name: backwards ? 'page-backwards' : 'page',
    text: `select s.head, s.cut,
      s.cut > s.head or exists (select from ${schema}.fact t where t.stream = s.id and t.revision = s.head),
      p.revision, p.position, p.id, p.type, convert_from(p.payload, 'UTF8'), p.is_last, convert_from(p.metadata, 'UTF8')
    from ${schema}.stream s left join lateral (
      select m.*, m.size >= $6::bigint as is_last from (
        select n.*, sum(n.bytes) over (order by n.revision ${order}) as size
        from (
          select f.revision, f.position, f.id, f.type, f.payload, f.metadata,
            octet_length(f.payload) + octet_length(f.metadata) as bytes from ${schema}.fact f
          where f.stream = s.id and ${range} and (not $4::boolean or not f.detail)
            and ($5::text[] is null or f.type = any($5::text[]))
          order by f.revision ${order} limit $3::bigint) n) m
      where m.size - m.bytes < $6::bigint
      order by m.revision ${order}) p on true
    where s.key = $1`,
  };
}

function factOf(stream: string, row: Row): RecordedFact {
  return {
    stream,
    revision: Number(row[3]),
    position: positionText(Number(row[4])),
    id: String(row[5]),
    type: String(row[6]),
    payload: String(row[7]),
    metadata: String(row[9]),
  };
}

function checkJoints(
  stream: string,
  facts: readonly RecordedFact[],
  begin: number,
  end: number,
  backwards: boolean,
): void {
  const step = backwards ? -1 : 1;
  let expected = begin;
  for (const { revision } of facts) {
    if (revision !== expected) throw damaged(`revision ${expected} is missing`, stream);
    expected += step;
  }
  if (expected !== end) throw damaged(`revision ${expected} is missing`, stream);
}

/** The last fact of the stream is not there: tells how far the facts reach. */
async function refuseLoss(query: Query, schema: string, stream: string): Promise<void> {
  const text = `select s.cut > s.head, s.head, (select max(f.revision) from ${schema}.fact f where f.stream = s.id)
    from ${schema}.stream s where s.key = $1`;
  const [row] = await query({ name: 'loss', text }, [streamKey(stream)]);
  const last = Number(row?.[2] ?? -1);
  if (row === undefined || row[0] === true || last >= Number(row[1])) return;
  throw truncated(stream, last);
}
