import type { RecordedFact } from '@perdure/events';

const WIDTH = 16;
const POSITION = /^\d{16}$/;

export function isPosition(text: string): boolean {
  return POSITION.test(text);
}

/** All facts of the store in the order in which they were appended. */
export class FactLog {
  private facts: RecordedFact[] = [];
  private readonly forgotten = new Set<RecordedFact>();
  private count = 0;

  get nextPosition(): string {
    return String(this.count).padStart(WIDTH, '0');
  }

  /** Adds a fact at the next position. */
  add(fact: RecordedFact): void {
    this.facts.push(fact);
    this.count += 1;
  }

  page(after: string | undefined, size: number): { readonly facts: readonly RecordedFact[]; readonly isLast: boolean } {
    const first = after === undefined ? 0 : this.firstBehind(after);
    const facts = this.facts.slice(first, first + size);
    return { facts, isLast: first + facts.length === this.facts.length };
  }

  /** Lets go of facts, at once or later: only when half of the log is forgotten is it worth to copy the rest. */
  forget(facts: readonly RecordedFact[]): void {
    for (const fact of facts) this.forgotten.add(fact);
    if (this.forgotten.size * 2 <= this.facts.length) return;
    this.facts = this.facts.filter((fact) => !this.forgotten.has(fact));
    this.forgotten.clear();
  }

  /** Positions are sorted, so that halving finds the place. */
  private firstBehind(position: string): number {
    let low = 0;
    let high = this.facts.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.facts[middle]?.position ?? '') > position) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
