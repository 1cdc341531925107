import { PerdureError, reasonOf, type EventStore, type Logger } from '@perdure/plugin-api';
import type { BudgetStream } from './budget-stream.js';

/** A timer is set for no longer than this; behind it the time is looked at again. */
const LONGEST_MS = 60 * 60 * 1_000;

/** The time of the world, in epoch milliseconds: a limit ends for all nodes alike, whatever clock their facts have. */
export function worldTime(): number {
  return performance.timeOrigin + performance.now();
}

/**
 * Breaks off the model calls of a tree that are under way when its time is over, also when another process shortens it
 * meanwhile. It watches while there are such calls.
 */
export class TimeLimit {
  private readonly calls = new Set<AbortController>();
  private timer: NodeJS.Timeout | undefined;
  private following: AbortController | undefined;

  constructor(
    private readonly stream: BudgetStream,
    private readonly store: EventStore,
    private readonly logger: Logger,
  ) {}

  get isOver(): boolean {
    const { limits } = this.stream.state;
    return limits?.endsAt !== undefined && limits.endsAt <= worldTime();
  }

  /** Why calls are denied once it is over. */
  get reason(): string {
    return `the time ended at ${new Date(this.stream.state.limits?.endsAt ?? 0).toISOString()}`;
  }

  /** The signal of a call that begins, and the function that ends the watch on it. */
  begin(): { readonly signal: AbortSignal; readonly end: () => void } {
    const controller = new AbortController();
    this.calls.add(controller);
    if (this.following === undefined) this.follow();
    this.look();
    const end = (): void => {
      this.calls.delete(controller);
      if (this.calls.size === 0) this.rest();
    };
    return { signal: controller.signal, end };
  }

  /** Ends the watch on all calls. */
  rest(): void {
    clearTimeout(this.timer);
    this.following?.abort();
    this.following = undefined;
  }

  private look(): void {
    clearTimeout(this.timer);
    const endsAt = this.stream.state.limits?.endsAt;
    if (endsAt === undefined || this.calls.size === 0) return;
    if (!this.isOver) {
      this.timer = setTimeout(() => this.look(), Math.min(LONGEST_MS, Math.max(1, endsAt - worldTime())));
      return;
    }
    const error = new PerdureError('PERDURE_BUDGET_EXHAUSTED', { resource: 'wall_time', reason: this.reason });
    for (const call of this.calls) call.abort(error);
    this.calls.clear();
    this.rest();
  }

  private follow(): void {
    const controller = new AbortController();
    this.following = controller;
    this.followLimits(controller.signal).catch((error: unknown) => {
      if (controller.signal.aborted) return;
      this.logger.log('warn', 'A budget is no longer followed.', { reason: reasonOf(error) });
    });
  }

  private async followLimits(signal: AbortSignal): Promise<void> {
    const { stream } = this;
    const source = { stream: stream.name, ...(stream.revision < 0 ? {} : { after: stream.revision }) };
    for await (const { facts } of this.store.subscribe(source, { types: ['BudgetLimitSet'], signal })) {
      if (facts.length === 0) continue;
      await stream.refresh();
      if (!signal.aborted) this.look();
    }
  }
}
