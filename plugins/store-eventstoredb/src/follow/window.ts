import type { Position, StoredEvent } from '../client/connection.js';

const MOST_EVENTS = 4_096;
const MOST_BYTES = 16 * 1024 * 1024;

/** What was appended lately, so that followers that are close need not read it again. */
export class Window {
  private events: StoredEvent[] = [];
  private readonly streams = new Map<string, StoredEvent[]>();
  private bytes = 0;
  /** Everything behind this position is here. */
  private since: Position | undefined;

  /** Begins anew: nothing is known of what came before the position. */
  begin(since: Position | undefined): void {
    this.events = [];
    this.streams.clear();
    this.bytes = 0;
    this.since = since;
  }

  add(event: StoredEvent): void {
    this.events.push(event);
    const ofStream = this.streams.get(event.stream);
    if (ofStream === undefined) this.streams.set(event.stream, [event]);
    else ofStream.push(event);
    this.bytes += sizeOf(event);
    if (this.events.length > MOST_EVENTS || this.bytes > MOST_BYTES) this.forgetHalf();
  }

  /** The events behind a position; `undefined` when some of them may not be here. */
  after(position: Position | undefined): readonly StoredEvent[] | undefined {
    const { since, events } = this;
    if (since === undefined || position === undefined || isBehind(since, position)) return undefined;
    let low = 0;
    let high = events.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const event = events[middle];
      if (event !== undefined && !isBehind(event.position, position)) low = middle + 1;
      else high = middle;
    }
    return events.slice(low);
  }

  /** The events of a stream from a revision on; `undefined` when that one is not here. */
  ofStream(stream: string, from: number): readonly StoredEvent[] | undefined {
    const events = this.streams.get(stream) ?? [];
    // Revisions of a stream have no gaps, and its events here are the last ones.
    const index = from - (events[0]?.revision ?? 0);
    return events[index]?.revision === from ? events.slice(index) : undefined;
  }

  private forgetHalf(): void {
    const forgotten = this.events.splice(0, Math.ceil(this.events.length / 2));
    for (const event of forgotten) {
      this.bytes -= sizeOf(event);
      const ofStream = this.streams.get(event.stream);
      ofStream?.shift();
      if (ofStream?.length === 0) this.streams.delete(event.stream);
    }
    this.since = forgotten.at(-1)?.position ?? this.since;
  }
}

function sizeOf({ data, metadata }: StoredEvent): number {
  return data.length + metadata.length;
}

function isBehind(one: Position, other: Position): boolean {
  return one.commit === other.commit ? one.prepare > other.prepare : one.commit > other.commit;
}
