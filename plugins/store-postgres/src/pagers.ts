import { streamCategory } from '@perdure/events';
import type { FactBatch } from '@perdure/plugin-api';
import type { Announcement } from './announcement.js';
import type { Query } from './connections.js';
import { positionText } from './position.js';
import { readStorePage, type StoreFilter } from './store-page.js';
import { readStreamPage } from './stream-page.js';

/** Facts of one page. */
const FACTS = 1_000;

/** Reads page by page behind a cursor of its own. */
export interface Pager {
  /** The stream that is followed; `undefined` for the whole store. */
  readonly stream: string | undefined;
  /** The next page. When it cannot be read the cursor stays where it is. */
  nextPage(): Promise<FactBatch>;
  /**
   * What of an announcement was asked for, and moves the cursor past it, so that it need not be read. `undefined` when
   * something lies between, or nobody has read the facts: then the next page has them. Not while a page is read.
   */
  take(announcement: Announcement): FactBatch | undefined;
}

/** Reads a stream behind a revision. */
export class StreamPager implements Pager {
  readonly stream: string;
  private readonly query: Query;
  private readonly schema: string;
  private readonly types: ReadonlySet<string> | undefined;
  private cursor: number;

  constructor(
    query: Query,
    schema: string,
    stream: string,
    after: number | undefined,
    types: ReadonlySet<string> | undefined,
  ) {
    this.query = query;
    this.schema = schema;
    this.stream = stream;
    this.cursor = after ?? -1;
    this.types = types;
  }

  async nextPage(): Promise<FactBatch> {
    const { facts, next, head } = await readStreamPage(this.query, this.schema, this.stream, {
      from: this.cursor + 1,
      limit: FACTS,
      types: this.types,
    });
    if (next !== undefined) this.cursor = next - 1;
    else if (head !== 'none') this.cursor = Math.max(this.cursor, head);
    return { facts, caughtUp: next === undefined };
  }

  take({ first, last, facts }: Announcement): FactBatch | undefined {
    if (last <= this.cursor) return { facts: [], caughtUp: true };
    if (first > this.cursor + 1 || facts === undefined) return undefined;
    const behind = this.cursor;
    this.cursor = last;
    const wanted = facts.filter(({ revision, type }) => revision > behind && (this.types?.has(type) ?? true));
    return { facts: wanted, caughtUp: true };
  }
}

/** Reads the whole store behind a position. */
export class StorePager implements Pager {
  readonly stream = undefined;
  private readonly query: Query;
  private readonly schema: string;
  private readonly filter: StoreFilter;
  private cursor: number;

  constructor(query: Query, schema: string, after: number, filter: StoreFilter) {
    this.query = query;
    this.schema = schema;
    this.cursor = after;
    this.filter = filter;
  }

  async nextPage(): Promise<FactBatch> {
    const { facts, cursor, caughtUp } = await readStorePage(this.query, this.schema, this.cursor, this.filter);
    this.cursor = cursor;
    return { facts, caughtUp, position: positionText(cursor) };
  }

  take({ position, behind, stream, facts }: Announcement): FactBatch | undefined {
    const before = positionText(this.cursor);
    if (position <= this.cursor) return { facts: [], caughtUp: true, position: before };
    const { categories, types } = this.filter;
    const isWanted = categories?.has(streamCategory(stream)) ?? true;
    if (behind > this.cursor || (isWanted && facts === undefined)) return undefined;
    this.cursor = position;
    const wanted = isWanted ? (facts ?? []) : [];
    return {
      facts: wanted.filter((fact) => fact.position > before && (types?.has(fact.type) ?? true)),
      caughtUp: true,
      position: positionText(position),
    };
  }
}
