import type { SessionRow } from '@perdure/events';

/** What is remembered of a stream that was relayed. */
export interface StreamEntry {
  /** Whether the filter lets the stream through. */
  readonly isWanted: boolean;
  /** The revision of its last message; absent when that is not known. */
  readonly last?: number | undefined;
  /** Of a session. */
  readonly row?: SessionRow | undefined;
}

/** The streams that were relayed last, so many of them. */
export class StreamMemory {
  private readonly entries = new Map<string, StreamEntry>();

  constructor(private readonly limit: number) {}

  get(stream: string): StreamEntry | undefined {
    return this.entries.get(stream);
  }

  /** Takes over what a chunk made of streams; `null` for one that is erased. */
  apply(changes: ReadonlyMap<string, StreamEntry | null>): void {
    for (const [stream, entry] of changes) {
      this.entries.delete(stream);
      if (entry !== null) this.entries.set(stream, entry);
    }
    for (const stream of this.entries.keys()) {
      if (this.entries.size <= this.limit) return;
      this.entries.delete(stream);
    }
  }

  clear(): void {
    this.entries.clear();
  }
}
