import { setMaxListeners } from 'node:events';
import { reasonOf } from '@perdure/plugin-api';
import type { PayloadOf } from '@perdure/events';
import { assertOwner } from '../session/ownership.js';
import { settledWithin } from '../session/settled-within.js';
import { MANY_TURNS, type SessionState } from '../session/session-state.js';
import { askTitle, type TitleAnswer } from './ask-title.js';
import { invocationContextOf } from './invocation-context-of.js';
import type { SessionWork } from './session-work.js';

/** Milliseconds in which a call that was broken off must come to its end. */
const BREAK_OFF_MS = 5_000;

/**
 * Has a model give the session a title, beside its turns and without holding them up. It is asked when a turn was
 * completed, and asked once more behind the next one when the first call left no fact: its process died under it, or
 * let the session go. Whatever comes of a call, there is no other.
 */
export class TitleAsker {
  private asking: Promise<void> | undefined;
  private readonly ending = new AbortController();
  /** Whether a call is under way whose facts are not on their way. */
  isAsking = false;

  constructor(
    private readonly work: SessionWork,
    isOwner: () => boolean,
    signal: AbortSignal,
  ) {
    setMaxListeners(0, this.ending.signal);
    const end = work.journal.onCommit((facts, state) => {
      const hasCompleted = facts.some(
        ({ type, payload }) => type === 'RunEnded' && (payload as PayloadOf<'RunEnded'>).status === 'completed',
      );
      if (hasCompleted && isOwner()) this.look(state);
    });
    signal.addEventListener('abort', () => {
      end();
      this.ending.abort();
    });
  }

  /** Lets a call end within the grace, and breaks it off then. Safe to repeat. */
  async end(graceMs: number): Promise<void> {
    if (this.asking === undefined) return;
    await settledWithin([this.asking], graceMs);
    this.ending.abort();
    await settledWithin([this.asking], BREAK_OFF_MS);
  }

  private look(state: SessionState): void {
    const { titles } = this.work.agent().parts;
    const { identity, naming } = state;
    if (titles === undefined || this.asking !== undefined || this.ending.signal.aborted) return;
    if (identity?.parent !== undefined && !titles.children) return;
    if (naming.title !== undefined || naming.isAsked || naming.completed >= MANY_TURNS) return;
    this.isAsking = true;
    this.asking = this.ask(state, titles.model)
      .catch((error: unknown) => {
        const data = { session: this.work.key.id, reason: this.work.redaction.redactText(reasonOf(error)) };
        this.work.logger.log('warn', 'A session could not be given a title.', data);
      })
      .finally(() => {
        this.isAsking = false;
        this.asking = undefined;
      });
  }

  private async ask(state: SessionState, model: string | undefined): Promise<void> {
    const { work } = this;
    const controller = new AbortController();
    const abort = (): void => controller.abort(new Error('The session was let go.'));
    this.ending.signal.addEventListener('abort', abort, { once: true });
    try {
      const context = invocationContextOf(work, state, controller.signal, false);
      await this.record(await askTitle(state, work.agent(), model, work, context, controller), state);
    } finally {
      this.ending.signal.removeEventListener('abort', abort);
    }
  }

  private async record({ facts, title }: TitleAnswer, { ownership: { epoch } }: SessionState): Promise<void> {
    // The commit is in line before anyone can let the session go.
    this.isAsking = false;
    if (facts.length === 0) return;
    await this.work.journal.commit((batch) => {
      assertOwner(batch, { epoch }, this.work.key.id);
      for (const fact of facts) batch.keep(fact);
      if (title === undefined || batch.state.naming.title !== undefined) return;
      batch.add('SessionTitled', { title, by: 'model' }, {}, facts.at(-1)?.actor ?? { kind: 'model' });
    }, 'owner');
  }
}
