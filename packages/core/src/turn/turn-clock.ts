import { errorMessage } from '@perdure/plugin-api';
import { TimeLimit } from '../invoke/time-limit.js';
import type { Journal } from '../session/journal.js';
import type { OpenTurn } from '../session/session-state.js';
import { turnWaitsInside } from '../session/waits-inside.js';
import { NODE } from './record-intent.js';

/**
 * Measures how long this process has worked on a turn, and has it ended when that is longer than it may be. What
 * earlier runs worked is in the fold; waiting for people counts for nothing.
 */
export class TurnClock {
  private turnId: string | undefined;
  private spentMs = 0;

  constructor(private readonly journal: Journal) {}

  /** Does a piece of work on a turn. The end of the turn, when its time is over, is a fact like any other stop. */
  async during<Result>(turn: OpenTurn, limitMs: number | undefined, work: () => Promise<Result>): Promise<Result> {
    if (limitMs === undefined) return work();
    if (this.turnId !== turn.turnId) {
      this.turnId = turn.turnId;
      this.spentMs = turn.workedMs;
    }
    const { journal } = this;
    const waits = {
      isWaiting: () => turnWaitsInside(journal.state),
      onChange: (look: () => void) => journal.onCommit(look),
    };
    const limit = new TimeLimit(limitMs - this.spentMs, waits, () => void this.end(turn.turnId, limitMs));
    try {
      return await work();
    } finally {
      this.spentMs += limit.end();
    }
  }

  private async end(turnId: string, limitMs: number): Promise<void> {
    const code = 'PERDURE_TURN_TIME_LIMIT';
    const failure = { code, message: errorMessage(code, { ms: limitMs }) };
    try {
      await this.journal.commit((batch) => {
        const turn = batch.state.open.find((open) => open.turnId === turnId);
        if (turn === undefined || turn.stop !== undefined) return;
        batch.add('StopRequested', { turnId, failure }, { turnId }, NODE);
      }, 'input');
    } catch {
      // The journal has failed, and whoever waits for the turn is told by it.
    }
  }
}
