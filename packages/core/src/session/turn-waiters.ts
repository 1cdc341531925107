import type { TurnResult } from '@perdure/plugin-api';

/** Who waits in this process for turns to end. While anyone waits, someone looks after the session's owner. */
export class TurnWaiters {
  private readonly waiting = new Map<string, Set<(result: TurnResult) => void>>();
  private watch: NodeJS.Timeout | undefined;

  constructor(
    private readonly lookAfter: () => void,
    private readonly everyMs: number,
  ) {}

  wait(turnId: string): Promise<TurnResult> {
    this.watch ??= setInterval(this.lookAfter, this.everyMs);
    return new Promise((resolve) => {
      const waiting = this.waiting.get(turnId) ?? new Set();
      this.waiting.set(turnId, waiting.add(resolve));
    });
  }

  /** Resolves those whose turn has a result. */
  answer(resultOf: (turnId: string) => TurnResult | undefined): void {
    for (const [turnId, waiting] of this.waiting) {
      const result = resultOf(turnId);
      if (result === undefined) continue;
      this.waiting.delete(turnId);
      for (const resolve of waiting) resolve(result);
    }
    if (this.waiting.size > 0) return;
    clearInterval(this.watch);
    this.watch = undefined;
  }
}
