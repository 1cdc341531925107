import { numberOf, type Database, type RowStatement } from './database.js';
import type { Position } from './position.js';
import { LAST_FACT, LAST_WEAK } from './schema.js';

/** The last positions that were ever given away. They never move back, whatever is deleted. */
export class StoreEnd {
  private readonly lastFact: RowStatement<[unknown]>;
  private readonly lastWeak: RowStatement<[unknown]>;
  private readonly seen = { fact: 0, weak: 0 };

  constructor(database: Database) {
    this.lastFact = database.prepare(`select ${LAST_FACT}`);
    this.lastWeak = database.prepare(`select ${LAST_WEAK}`);
  }

  /** Position of the last fact of the store; 0 before the first. */
  fact(): number {
    this.seen.fact = numberOf(this.lastFact.get()) ?? 0;
    return this.seen.fact;
  }

  /** Count of the last fact of a draft or lease. */
  weak(): number {
    this.seen.weak = numberOf(this.lastWeak.get()) ?? 0;
    return this.seen.weak;
  }

  /** Where the end was when it was last looked at. It is right as long as nobody else writes, and costs nothing. */
  get lastSeen(): Position {
    return this.seen;
  }

  /** A fact was added at this place. */
  note({ fact, weak }: Position): void {
    this.seen.fact = fact;
    if (weak !== 0) this.seen.weak = weak;
  }
}
