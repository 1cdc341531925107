/** The longest time that a timer can be set for. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** Whether work waits for people, and a way to hear when that may have changed. */
export interface Waits {
  isWaiting(): boolean;
  /** Gives the end of the listening. */
  onChange(look: () => void): () => void;
}

/** Of work that asks nobody. */
export const waitsForNobody: Waits = { isWaiting: () => false, onChange: () => () => undefined };

/** Milliseconds that work may take. They stand still while it waits for people. */
export class TimeLimit {
  private spentMs = 0;
  private since: number | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly forget: () => void;

  constructor(
    private readonly ms: number,
    private readonly waits: Waits,
    private readonly onOver: () => void,
  ) {
    this.forget = waits.onChange(() => this.look());
    this.look();
  }

  /** Milliseconds that were spent; nothing comes of the limit any more. */
  end(): number {
    this.forget();
    this.pause();
    return this.spentMs;
  }

  private look(): void {
    if (this.waits.isWaiting()) this.pause();
    else if (this.since === undefined) this.go();
  }

  private go(): void {
    this.since = performance.now();
    this.timer = setTimeout(this.onOver, Math.min(Math.max(0, this.ms - this.spentMs), LONGEST_TIMER));
  }

  private pause(): void {
    if (this.since === undefined) return;
    clearTimeout(this.timer);
    this.spentMs += performance.now() - this.since;
    this.since = undefined;
  }
}
