import type { AnswerPart } from '@perdure/events';
import type { AnswerDelta, DeltaSink } from './answer-builder.js';

type Untold<Delta> = Delta extends AnswerDelta ? Omit<Delta, 'part'> : never;

/** A part that grows. It gets its number when the first of it is told. */
export interface PartSlot {
  number: number | undefined;
  /** Pieces that wait for the parts before this one. */
  waiting: Untold<AnswerDelta>[];
  /** The whole part; `null` when it turned out to be none. */
  part: AnswerPart | null | undefined;
}

/**
 * Tells the pieces of an answer part after part, whatever the order in which they come: what belongs behind a part that
 * is not whole waits for it. A part without content is none, and gets no number.
 */
export class AnswerOrder {
  private readonly slots: PartSlot[] = [];
  /** The first part that is not whole. */
  private next = 0;
  private numbered = 0;

  constructor(private readonly sink: DeltaSink) {}

  begin(): PartSlot {
    const slot: PartSlot = { number: undefined, waiting: [], part: undefined };
    this.slots.push(slot);
    return slot;
  }

  tell(slot: PartSlot, piece: Untold<AnswerDelta>): void {
    if (slot === this.slots[this.next]) this.sink({ ...piece, part: this.numberOf(slot) } as AnswerDelta);
    else slot.waiting.push(piece);
  }

  /** The part is whole, or none. What waited for it is told. */
  complete(slot: PartSlot, part: AnswerPart | undefined): void {
    slot.part = part ?? null;
    for (let first = this.slots[this.next]; first?.part !== undefined; first = this.slots[this.next]) {
      // One that nothing is told of has its place too.
      if (first.part !== null) this.numberOf(first);
      this.next += 1;
      const behind = this.slots[this.next];
      const waiting = behind?.waiting ?? [];
      if (behind === undefined) break;
      behind.waiting = [];
      for (const piece of waiting) this.tell(behind, piece);
    }
  }

  /** The parts up to the first that is not whole, with what is there of that one. */
  upTo(broken: (slot: PartSlot) => AnswerPart | undefined): AnswerPart[] {
    const whole = this.slots.slice(0, this.next).flatMap(({ part }) => part ?? []);
    const open = this.slots[this.next];
    const rest = open === undefined ? undefined : broken(open);
    return rest === undefined ? whole : [...whole, rest];
  }

  private numberOf(slot: PartSlot): number {
    slot.number ??= this.numbered++;
    return slot.number;
  }
}
