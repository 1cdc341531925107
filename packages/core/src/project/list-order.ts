import { sessionStream, type FactRegistry, type RecordedFact } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { formatListCursor, type ListCursor } from './list-cursor.js';
import { projectedFact } from './projected-fact.js';
import { sessionList, type SessionListRow } from './session-list.js';

interface Entry {
  readonly key: string;
  readonly row: SessionListRow;
  /** When the session had last changed as the listing began, in epoch milliseconds. */
  readonly changed: number;
}

/** The sessions of a listing in its order, which is that of the moment at which it began. */
export interface Listed {
  readonly entries: readonly Entry[];
  /** The position of the newest fact of that moment. */
  readonly since: string;
}

/** Facts that are read at a time on the way back to one that a list goes by. */
const PAGE = 16;

/**
 * Puts sessions in the order in which they stood when their listing began, the most recently changed first. Of a
 * session that has changed since, its stream tells when it had changed by then, so that it keeps its place; one that
 * was made since has none.
 */
export async function inOrder(
  rows: ReadonlyMap<string, SessionListRow>,
  fits: (row: SessionListRow) => boolean,
  cursor: ListCursor | undefined,
  store: EventStore,
  facts: FactRegistry,
): Promise<Listed> {
  // Rows are read together: they know of everything up to the newest fact that any of them holds.
  let since = cursor?.since ?? '';
  if (cursor === undefined) for (const { at } of rows.values()) if (at > since) since = at;
  const entries: Entry[] = [];
  for (const [key, row] of rows) {
    if (row.since > since || !fits(row)) continue;
    const changed = row.at <= since ? row.updatedAt : await changedBy(row, since, store, facts);
    if (changed !== undefined) entries.push({ key, row, changed });
  }
  return { entries: entries.sort(byChange), since };
}

/** The entries behind a cursor, and the cursor behind them; `null` at the end. */
export function pageBehind(
  { entries, since }: Listed,
  cursor: ListCursor | undefined,
  limit: number,
): { readonly rows: readonly SessionListRow[]; readonly nextCursor: string | null } {
  const left = cursor === undefined ? entries : entries.filter((entry) => byChange(cursor, entry) < 0);
  const page = left.slice(0, limit);
  const last = page.at(-1);
  const isEnd = last === undefined || left.length <= limit;
  const nextCursor = isEnd ? null : formatListCursor({ since, changed: last.changed, key: last.key });
  return { rows: page.map(({ row }) => row), nextCursor };
}

function byChange(a: Omit<Entry, 'row'>, b: Omit<Entry, 'row'>): number {
  return b.changed - a.changed || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);
}

/** When a session had last changed at a position, as lists see it; `undefined` when its facts are gone. */
async function changedBy(
  { tenant, id }: SessionListRow,
  position: string,
  store: EventStore,
  facts: FactRegistry,
): Promise<number | undefined> {
  const stream = sessionStream(tenant === null ? { id } : { tenant, id });
  let from = await lastRevisionBy(stream, position, store);
  while (from !== undefined) {
    const page: Awaited<ReturnType<EventStore['read']>> = await store.read(stream, {
      from,
      direction: 'backwards',
      limit: PAGE,
    });
    for (const fact of page.facts) {
      if (sessionList.types.includes(fact.type)) {
        const known = projectedFact(fact, facts);
        if (known !== undefined) return known.time;
      }
    }
    from = page.next;
  }
  return undefined;
}

/** The last revision of a stream at or before a position: looked for from the end, in ever larger steps. */
async function lastRevisionBy(stream: string, position: string, store: EventStore): Promise<number | undefined> {
  const factAt = async (from: number | undefined): Promise<RecordedFact | undefined> => {
    const options = { direction: 'backwards' as const, limit: 1, ...(from === undefined ? {} : { from }) };
    return (await store.read(stream, options)).facts[0];
  };
  const newest = await factAt(undefined);
  if (newest === undefined) return undefined;
  if (newest.position <= position) return newest.revision;
  // The first revision that is known to be too new, and the last that is known not to be.
  let after = newest.revision;
  let by: number | undefined;
  for (let step = 1; by === undefined; step *= 2) {
    const revision = Math.max(0, newest.revision - step);
    const fact = await factAt(revision);
    if (fact === undefined || fact.position <= position) by = fact?.revision ?? -1;
    else if (revision === 0) return undefined;
    else after = revision;
  }
  if (by < 0) return undefined;
  while (after - by > 1) {
    const middle = Math.floor((after + by) / 2);
    const fact = await factAt(middle);
    if (fact !== undefined && fact.position <= position) by = middle;
    else after = middle;
  }
  return by;
}
