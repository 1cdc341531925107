import { numberOf, type Database, type RowStatement } from './database.js';

/**
 * Positions without a row, because it was deleted or lost and the loss accepted. A follower of the whole store knows by
 * them that it misses nothing else.
 */
export class Holes {
  private readonly insertHole: RowStatement<[]>;
  private readonly holeAtOrBefore: RowStatement<[unknown]>;
  private readonly holeBehind: RowStatement<[unknown]>;

  constructor(database: Database) {
    this.insertHole = database.prepare('insert into hole (first, last) values (?, ?)');
    this.holeAtOrBefore = database.prepare('select last from hole where first <= ? order by first desc limit 1');
    this.holeBehind = database.prepare('select min(first) from hole where first > ?');
  }

  add(first: number, last: number): void {
    this.insertHole.run(first, last);
  }

  /** Whether no position from the first to the last one has a row. */
  cover(first: number, last: number): boolean {
    return this.firstOutside(first) > last;
  }

  /** Makes holes of the positions from the first to the last one that are in none. */
  fill(first: number, last: number): void {
    let start = this.firstOutside(first);
    while (start <= last) {
      const nextHole = numberOf(this.holeBehind.get(start)) ?? Infinity;
      this.add(start, Math.min(last, nextHole - 1));
      start = this.firstOutside(start);
    }
  }

  /** The first position from this one on that is in no hole. */
  private firstOutside(position: number): number {
    let outside = position;
    for (;;) {
      const end = numberOf(this.holeAtOrBefore.get(outside));
      if (end === undefined || end < outside) return outside;
      outside = end + 1;
    }
  }
}
