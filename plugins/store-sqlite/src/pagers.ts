import { streamCategory } from '@perdure/events';
import type { FactBatch } from '@perdure/plugin-api';
import { hasType, type Announcement } from './announcement.js';
import type { FactTables } from './fact-tables.js';
import { comparePositions, positionText, type Position } from './position.js';
import { readStorePage, type StoreFilter, type StoreTables } from './store-page.js';
import { readStreamPage } from './stream-page.js';
import type { Pager } from './subscription.js';

/** Facts of one page. */
const PAGE = 500;

/** Runs a read on one state of the file. */
export type Reading = <Result>(work: () => Result) => Result;

/** Reads a stream behind a revision. */
export class StreamPager implements Pager {
  readonly stream: string;
  private readonly reading: Reading;
  private readonly tables: FactTables;
  private readonly types: ReadonlySet<string> | undefined;
  private cursor: number;

  constructor(
    reading: Reading,
    tables: FactTables,
    stream: string,
    after: number | undefined,
    types: ReadonlySet<string> | undefined,
  ) {
    this.reading = reading;
    this.tables = tables;
    this.stream = stream;
    this.cursor = after ?? -1;
    this.types = types;
  }

  nextPage(): FactBatch {
    const from = this.cursor + 1;
    const options = { from, limit: PAGE, types: this.types };
    const { facts, next, head } = this.reading(() => readStreamPage(this.tables, this.stream, options));
    if (next !== undefined) this.cursor = next - 1;
    else if (head !== 'none') this.cursor = Math.max(this.cursor, head);
    return { facts, caughtUp: next === undefined };
  }

  concerns(announcement: Announcement): boolean {
    const { first, last } = announcement;
    if (last <= this.cursor) return false;
    if (hasType(announcement, this.types)) return true;
    if (first <= this.cursor + 1) this.cursor = last;
    return false;
  }
}

/** Reads the whole store behind a position. */
export class StorePager implements Pager {
  readonly stream = undefined;
  private readonly reading: Reading;
  private readonly tables: StoreTables;
  private readonly filter: StoreFilter;
  private cursor: Position;

  constructor(reading: Reading, tables: StoreTables, after: Position, filter: StoreFilter) {
    this.reading = reading;
    this.tables = tables;
    this.cursor = after;
    this.filter = filter;
  }

  nextPage(): FactBatch {
    const { facts, cursor, caughtUp } = this.reading(() => readStorePage(this.tables, this.cursor, this.filter));
    this.cursor = cursor;
    return { facts, caughtUp, position: positionText(cursor.fact, cursor.weak) };
  }

  concerns(announcement: Announcement): boolean {
    const { position, stream, durability, facts } = announcement;
    if (comparePositions(position, this.cursor) <= 0) return false;
    const { categories, types } = this.filter;
    if ((categories?.has(streamCategory(stream)) ?? true) && hasType(announcement, types)) return true;
    const { fact, weak } = this.cursor;
    if (durability === 'weak') {
      if (weak === position.weak - facts.length && fact === position.fact) this.cursor = position;
    } else if (fact === position.fact - facts.length) {
      this.cursor = { fact: position.fact, weak };
    }
    return false;
  }
}
