import { noUsage, type WireLookup } from '@perdure/events';
import type { PerdureError, TurnResult } from '@perdure/plugin-api';
import type { CommittedFact } from './journal.js';

/** Told of what is committed to a session while somebody waits for one of its turns. */
export type FactListener = (facts: readonly CommittedFact[], lookup: WireLookup) => void;

interface Waiter {
  readonly turnId: string;
  readonly onFacts: FactListener | undefined;
  readonly resolve: (result: TurnResult) => void;
}

/**
 * Who waits in this process for turns of a session to end. They outlast the session's time in memory: while it is
 * loaded somebody looks after its owner as long as anyone waits; while it is not, they cost no timer.
 */
export class TurnWaiters {
  private waiting: readonly Waiter[] = [];
  private watch: NodeJS.Timeout | undefined;
  private lookAfter: (() => void) | undefined;

  /** @param onCount told how many have begun or ceased to wait */
  constructor(
    private readonly everyMs: number,
    private readonly onCount: (difference: number) => void,
  ) {}

  /** The turns that somebody waits for. */
  get turns(): readonly string[] {
    return this.waiting.map(({ turnId }) => turnId);
  }

  wait(turnId: string, onFacts?: FactListener): Promise<TurnResult> {
    return new Promise((resolve) => {
      this.waiting = [...this.waiting, { turnId, onFacts, resolve }];
      this.onCount(1);
      this.setWatch();
    });
  }

  /** Tells those of facts who asked for them. */
  tell(facts: readonly CommittedFact[], lookup: WireLookup): void {
    for (const { onFacts } of this.waiting) onFacts?.(facts, lookup);
  }

  /** The session is loaded, or with `undefined` no longer. */
  watchWith(lookAfter: (() => void) | undefined): void {
    this.lookAfter = lookAfter;
    this.setWatch();
  }

  /** Resolves those whose turn has a result. */
  answer(resultOf: (turnId: string) => TurnResult | undefined): void {
    const left: Waiter[] = [];
    for (const waiter of this.waiting) {
      const result = resultOf(waiter.turnId);
      if (result === undefined) left.push(waiter);
      else waiter.resolve(result);
    }
    this.onCount(left.length - this.waiting.length);
    this.waiting = left;
    this.setWatch();
  }

  /** Tells all that this process can no longer follow their turns. Of a session that is not loaded no more is known. */
  suspend({ code, message }: PerdureError): void {
    const status = 'suspended';
    const about = { success: false, status, text: '', error: { code, message }, usage: noUsage, runId: null } as const;
    this.answer((turnId) => ({ ...about, turnId }));
  }

  private setWatch(): void {
    const { lookAfter } = this;
    if (lookAfter === undefined || this.waiting.length === 0) {
      clearInterval(this.watch);
      this.watch = undefined;
    } else this.watch ??= setInterval(() => this.lookAfter?.(), this.everyMs);
  }
}
