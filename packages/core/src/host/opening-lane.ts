/** Sessions that may be opened in one turn of the event loop. */
const EACH_TURN = 8;

/**
 * Spreads the opening of sessions over turns of the event loop: an embedded store answers within the turn, and a burst
 * of sessions would keep timers and sockets waiting until the last of them is open.
 */
export class OpeningLane {
  private room = EACH_TURN;
  private isScheduled = false;
  private readonly waiting: (() => void)[] = [];

  /** Resolves when the caller may open a session: at once unless many do. In the order of the calls. */
  async enter(): Promise<void> {
    this.schedule();
    if (this.room > 0 && this.waiting.length === 0) {
      this.room -= 1;
      return;
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      const next = this.waiting.splice(0, EACH_TURN);
      this.room = EACH_TURN - next.length;
      for (const resolve of next) resolve();
      if (this.waiting.length > 0) this.schedule();
    });
  }
}
