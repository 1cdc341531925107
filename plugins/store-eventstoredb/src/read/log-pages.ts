import { CallQueue } from '../append/call-queue.js';
import type { Page, Position } from '../client/connection.js';
import { textOfPosition } from '../wire/position.js';

/** Facts of one page when the reader does not say. */
export const PAGE = 1_000;
/** Pages that are read at one time: each is large, and must not take the places of calls that somebody waits for. */
const AT_ONCE = 4;

type ReadPage = (position: Position | undefined, signal: AbortSignal) => Promise<Page>;

/**
 * Pages of the whole log for all followers of this process. Those at the same place at one time, as all are that
 * began together, are given the same page: a past is read once, however many follow it.
 */
export class LogPages {
  private readonly queue = new CallQueue(AT_ONCE);
  private readonly reads = new Map<string, SharedRead>();
  private readonly read: ReadPage;

  constructor(read: ReadPage) {
    this.read = read;
  }

  /** What is behind a position. A page that is not full has everything that was stored before the call. */
  async behind(position: Position | undefined, signal: AbortSignal): Promise<Page> {
    const place = position === undefined ? '' : textOfPosition(position);
    const known = this.reads.get(place);
    if (known?.hasBegun === true) {
      const page = await known.wait(signal);
      // What was stored since it began may be missing at its end, and only there.
      if (isFull(page)) return page;
    }
    const waiting = this.reads.get(place);
    const read = waiting?.hasBegun === false ? waiting : this.begin(place, position);
    return read.wait(signal);
  }

  private begin(place: string, position: Position | undefined): SharedRead {
    const made: SharedRead = new SharedRead(
      (begun, signal) =>
        this.queue.limited(() => {
          begun();
          signal.throwIfAborted();
          return this.read(position, signal);
        }),
      () => {
        if (this.reads.get(place) === made) this.reads.delete(place);
      },
    );
    this.reads.set(place, made);
    return made;
  }
}

export function isFull({ events, isCut }: Page): boolean {
  return isCut || events.length >= PAGE;
}

/** A read for all who wait for it; it is given up when none is left. */
class SharedRead {
  hasBegun = false;
  private waiting = 0;
  private readonly over = new AbortController();
  private readonly page: Promise<Page>;
  private readonly onEnd: () => void;

  constructor(read: (begun: () => void, signal: AbortSignal) => Promise<Page>, onEnd: () => void) {
    this.onEnd = onEnd;
    this.page = read(() => (this.hasBegun = true), this.over.signal);
    // Nobody may be left who would hear of a failure.
    this.page.then(onEnd, onEnd);
  }

  async wait(signal: AbortSignal): Promise<Page> {
    signal.throwIfAborted();
    let leave: (reason: unknown) => void = () => undefined;
    const left = new Promise<never>((_, reject) => (leave = reject));
    const abort = (): void => leave(signal.reason);
    signal.addEventListener('abort', abort);
    this.waiting += 1;
    try {
      return await Promise.race([this.page, left]);
    } finally {
      signal.removeEventListener('abort', abort);
      this.waiting -= 1;
      if (this.waiting === 0) this.giveUp();
    }
  }

  /** Who comes behind that begins another one. */
  private giveUp(): void {
    this.onEnd();
    this.over.abort();
  }
}
