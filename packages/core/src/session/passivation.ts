import type { Journal } from './journal.js';
import { activeRun, currentTurn, type SessionState } from './session-state.js';
import { isWaiting } from './waiting.js';

/** Whether the owner has a run in its hands. What waits for a person has nothing under way that could end. */
export function isUnderWay(state: SessionState): boolean {
  const turn = currentTurn(state);
  const run = turn && activeRun(turn);
  return run?.epoch === state.ownership.epoch && !isWaiting(state);
}

/**
 * Sees to it that a session leaves this node when someone asked for it. `due` resolves when no run of this node is left
 * in it, which is at a step boundary, or when the deadline is over.
 */
export class Passivation {
  readonly due: Promise<void>;
  private resolve: () => void = () => undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly journal: Journal,
    private readonly isOwner: () => boolean,
    signal: AbortSignal,
  ) {
    this.due = new Promise((resolve) => (this.resolve = resolve));
    const end = journal.onCommit(() => this.look());
    signal.addEventListener('abort', () => {
      end();
      clearTimeout(this.timer);
    });
  }

  private look(): void {
    const { state } = this.journal;
    const { passivation } = state.ownership;
    if (passivation === undefined || !this.isOwner()) return;
    if (!isUnderWay(state)) return this.resolve();
    const { deadlineMs } = passivation;
    if (deadlineMs === undefined) return;
    // A deadline is a time of the world; the session's own clock may stand still.
    const now = performance.timeOrigin + performance.now();
    this.timer ??= setTimeout(this.resolve, Math.max(0, deadlineMs - now));
  }
}
