import type { RecordedFact } from '@perdure/events';
import type { Query, Row, Statement } from './connections.js';
import { positionText } from './position.js';
import { damaged } from './postgres-error.js';
import { PAGE_BYTES } from './stream-page.js';

export interface StoreFilter {
  readonly categories?: ReadonlySet<string> | undefined;
  readonly types?: ReadonlySet<string> | undefined;
}

export interface StorePage {
  readonly facts: readonly RecordedFact[];
  /** Where to go on. */
  readonly cursor: number;
  readonly caughtUp: boolean;
}

/** Facts of one page. */
const FACTS = 1_000;

/** So many positions are looked through for one page with a filter. */
const WINDOW = 20_000;

/**
 * Reads what lies behind a position, in one statement. Positions become visible in their order, because they are given
 * under a lock that is held until the commit: there is nothing to wait for and nothing to come back to.
 */
export async function readStorePage(
  query: Query,
  schema: string,
  cursor: number,
  { categories, types }: StoreFilter,
): Promise<StorePage> {
  const isFiltered = categories !== undefined || types !== undefined;
  const horizon = isFiltered ? cursor + WINDOW : Number.MAX_SAFE_INTEGER;
  const rows = await query(pageStatement(schema), [
    cursor,
    horizon,
    categories === undefined ? null : [...categories],
    types === undefined ? null : [...types],
    FACTS,
    PAGE_BYTES,
  ]);
  const end = Number(rows[0]?.[0] ?? 0);
  if (end < cursor) throw damaged(`facts are missing: the store ends before the position ${positionText(cursor)}`);
  const facts = rows.flatMap((row) => (row[1] === null ? [] : [factOf(row)]));
  const last = rows.at(-1);
  const isCut = facts.length >= FACTS || last?.[8] === true;
  const reached = isCut ? Number(last?.[1]) : Math.min(horizon, end);
  return { facts, cursor: reached, caughtUp: reached >= end };
}

/** The columns: the last position of the store, the fact, whether the page ends here by its size. */
function pageStatement(schema: string): Statement {
  return {
    name: 'store-page',
    text: `select e.last, p.position, p.name, p.revision, p.id, p.type, convert_from(p.payload, 'UTF8'),
      convert_from(p.metadata, 'UTF8'), p.is_last
    from (select coalesce(max(f.position), 0) as last from ${schema}.fact f) e left join lateral (
      select m.*, m.size >= $6::bigint as is_last from (
        select n.*, sum(n.bytes) over (order by n.position) as size from (
          select f.position, s.name, f.revision, f.id, f.type, f.payload, f.metadata,
            octet_length(f.payload) + octet_length(f.metadata) as bytes
          from ${schema}.fact f join ${schema}.stream s on s.id = f.stream
          where f.position > $1::bigint and f.position <= least($2::bigint, e.last) and f.revision >= s.cut
            and ($3::text[] is null or s.category = any($3::text[]))
            and ($4::text[] is null or f.type = any($4::text[]))
          order by f.position limit $5::bigint) n) m
      where m.size - m.bytes < $6::bigint
      order by m.position) p on true`,
  };
}

function factOf(row: Row): RecordedFact {
  return {
    stream: String(row[2]),
    revision: Number(row[3]),
    position: positionText(Number(row[1])),
    id: String(row[4]),
    type: String(row[5]),
    payload: String(row[6]),
    metadata: String(row[7]),
  };
}
