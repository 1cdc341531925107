import type { RecordedFact } from '@perdure/events';
import type { ExpectedRevision, NewFact, ReadOptions, ReadPage } from '@perdure/plugin-api';

interface Entry {
  readonly fact: RecordedFact;
  readonly isDetail: boolean;
}

/** The facts of one stream behind its cut. */
export class MemoryStream {
  /** `entries[0]` has the revision `cut`. */
  private entries: Entry[] = [];
  private cut = 0;

  get nextRevision(): number {
    return this.cut + this.entries.length;
  }

  get head(): number {
    return this.nextRevision - 1;
  }

  add(fact: RecordedFact, isDetail: boolean): void {
    this.entries.push({ fact, isDetail });
  }

  /** The last fact of a batch that is stored at that place already; `undefined` when other facts or none are there. */
  lastOfRepeat(facts: readonly NewFact[], expected: ExpectedRevision): RecordedFact | undefined {
    const first = expected === 'none' ? 0 : expected + 1;
    if (!facts.every(({ id }, index) => this.entries[first + index - this.cut]?.fact.id === id)) return undefined;
    return this.entries[first + facts.length - 1 - this.cut]?.fact;
  }

  page({ from, direction, limit, omitDetail }: ReadOptions, pageSize: number): ReadPage {
    const step = direction === 'backwards' ? -1 : 1;
    const facts: RecordedFact[] = [];
    let revision = step === 1 ? Math.max(from ?? 0, this.cut) : Math.min(from ?? this.head, this.head);
    const isThere = (): boolean => revision >= this.cut && revision <= this.head;
    for (; isThere() && facts.length < Math.min(limit ?? pageSize, pageSize); revision += step) {
      const entry = this.entries[revision - this.cut];
      if (entry !== undefined && !(omitDetail === true && entry.isDetail)) facts.push(entry.fact);
    }
    return { facts, head: this.head, ...(isThere() ? { next: revision } : {}) };
  }

  /** Gives up the facts before a revision and returns them. The head stays. */
  truncate(before: number): RecordedFact[] {
    const count = Math.max(0, Math.min(before, this.nextRevision) - this.cut);
    this.cut += count;
    return this.entries.splice(0, count).map(({ fact }) => fact);
  }
}
