import { setMaxListeners } from 'node:events';
import { isPerdureError, reasonOf } from '@perdure/plugin-api';
import { openCalls } from '../session/call-tree.js';
import type { ChildState } from '../session/child-state.js';
import type { Ownership } from '../session/ownership.js';
import type { SessionWork } from '../turn/session-work.js';
import { ChildModes } from './cap-children.js';
import { endOfChild } from './child-end.js';
import { recordEnd } from './record-child.js';
import { stopChildren } from './stop-children.js';
import { tellProgress } from './tell-progress.js';

/**
 * Looks after the children of a session that no running call looks after: those in the background, and those whose call
 * is over or was lost with its process. It records their ends, and has those end that are to.
 */
export class ChildWatch {
  private readonly watched = new Set<string>();
  private readonly stopped = new Set<string>();
  private readonly over = new AbortController();
  /** Tells them what the session may no longer do. */
  readonly modes: ChildModes;

  constructor(
    private readonly work: SessionWork,
    private readonly held: Ownership,
  ) {
    setMaxListeners(0, this.over.signal);
    this.modes = new ChildModes(work, this.over.signal);
  }

  /** Looks whether there are any. Safe to call at any time. */
  look(): void {
    if (this.over.signal.aborted) return;
    const { children } = this.work.journal.state;
    for (const child of children) {
      if (child.ended !== undefined || this.isAwaited(child)) continue;
      if (!this.watched.has(child.childId)) {
        this.watched.add(child.childId);
        void this.watch(child);
      }
      if (child.isStopped && !this.stopped.has(child.childId)) {
        this.stopped.add(child.childId);
        void this.stop(child);
      }
    }
  }

  /** Tells them at once what the session may no longer do, as far as that goes. */
  async tellModes(): Promise<void> {
    try {
      await this.modes.tell();
    } catch (error) {
      if (this.over.signal.aborted) return;
      const data = { session: this.work.key.id, reason: reasonOf(error) };
      this.work.logger.log('warn', 'Child sessions could not be told of a stricter mode yet.', data);
    }
  }

  /** The session leaves this process: whoever has it next looks after them. */
  end(): void {
    this.over.abort(new Error('The session was let go.'));
  }

  private isAwaited({ background, delegation: { callId } }: ChildState): boolean {
    if (background === true) return false;
    return openCalls(this.work.journal.state).some((call) => call.callId === callId && call.settled === undefined);
  }

  private async watch(child: ChildState): Promise<void> {
    const { signal } = this.over;
    try {
      const end = await endOfChild(child, this.work, signal, tellProgress(child, this.work.feed));
      await recordEnd(end, child.turnId === undefined ? {} : { turnId: child.turnId }, this.work, this.held);
    } catch (error) {
      this.report(child, error);
    }
  }

  private async stop(child: ChildState): Promise<void> {
    try {
      await stopChildren(this.work, [child], 'stopped');
    } catch (error) {
      this.stopped.delete(child.childId);
      this.report(child, error);
    }
  }

  private report({ childId }: ChildState, error: unknown): void {
    if (this.over.signal.aborted || isPerdureError(error, 'PERDURE_SESSION_FENCED')) return;
    const data = { session: childId, reason: reasonOf(error) };
    this.work.logger.log('warn', 'A child session is not looked after at the moment.', data);
  }
}
