import type { Journal } from '../session/journal.js';

/**
 * Has state snapshots of a session written beside its work: when enough facts have come since it was loaded or since
 * the last one, when a turn ends that far behind the last one, and when the session is let go. A session that was just
 * loaded without one has its first model call before it.
 */
export class SnapshotKeeper {
  private writing: Promise<void> | undefined;

  /**
   * @param every facts behind the last snapshot at which the next is written, at the least
   * @param newest the revision of the snapshot that the session was opened with; -1 without one
   * @param inherited facts of other sessions that its state holds: a fork that has come to less is not worth one
   */
  constructor(
    private readonly journal: Journal,
    private readonly write: () => Promise<void>,
    private readonly every: number,
    private newest: number,
    private readonly inherited: number,
    private readonly onError: (error: unknown) => void,
  ) {
    const loaded = journal.head;
    journal.onCommit((facts) => {
      const isBetween = facts.some(({ type }) => type === 'RunEnded');
      const behind = journal.head - (isBetween ? this.newest : Math.max(this.newest, loaded));
      // The tail has outgrown the last one: what is written of a long session stays in proportion to it.
      const isDue = behind >= Math.max(every, this.newest, this.inherited);
      if (isDue && this.writing === undefined) setImmediate(() => void this.begin());
    });
  }

  /** The last snapshot, unless so few facts have come that they are folded as quickly as a snapshot is read. */
  async finish(): Promise<void> {
    await this.writing;
    const behind = this.journal.head - this.newest;
    if (behind >= Math.max(this.every / 10, this.newest < 0 ? this.inherited : 0)) await this.begin();
  }

  private begin(): Promise<void> {
    this.newest = this.journal.head;
    this.writing ??= this.write()
      .catch(this.onError)
      .finally(() => {
        this.writing = undefined;
      });
    return this.writing;
  }
}
