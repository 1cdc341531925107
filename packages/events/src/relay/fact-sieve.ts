import type { ReceivedFact } from './decode-message.js';

/** What a message of the topic is to a reader. */
export type Sifted =
  /** One that it has not had. */
  | { readonly kind: 'new' }
  /** One that it has had: to be left out. */
  | { readonly kind: 'double' }
  /**
   * One that it has not had, and between it and the reader's last one of the stream, `after`, others are missing: the
   * message before it on the topic has the revision `before`. A loss: somebody must look.
   */
  | { readonly kind: 'gap'; readonly after: number | undefined; readonly before: number };

export interface SieveOptions {
  /** What `state` gave, to go on from. */
  readonly state?: Iterable<readonly [stream: string, revision: number]>;
  /**
   * The reader began with the first message that the topic has ever had, or with `state`: then a stream that begins in
   * its middle is a gap. Else it is where the reader came in.
   */
  readonly complete?: boolean;
}

/**
 * Makes of the messages of a topic each fact once and in order, and finds what is missing. The topic repeats messages
 * when a relay had to send them again; of a stream they come in order all the same. Give it the messages of a partition
 * in their order, and store `state` together with what you make of them.
 */
export class FactSieve {
  private readonly last: Map<string, number>;
  private readonly complete: boolean;

  constructor({ state = [], complete = false }: SieveOptions = {}) {
    this.last = new Map(state);
    this.complete = complete;
  }

  /** Takes note of a message. Types play no part: those that the reader does not know are counted as well. */
  take({ stream, revision, prevRevision }: Pick<ReceivedFact, 'stream' | 'revision' | 'prevRevision'>): Sifted {
    const after = this.last.get(stream);
    if (after !== undefined && revision <= after) return { kind: 'double' };
    this.last.set(stream, revision);
    if (prevRevision === undefined || prevRevision === after) return { kind: 'new' };
    if (after === undefined && !this.complete) return { kind: 'new' };
    return { kind: 'gap', after, before: prevRevision };
  }

  /** The last revision that it has of each stream. */
  state(): IterableIterator<[stream: string, revision: number]> {
    return this.last.entries();
  }

  /** Lets go of a stream of which nothing more will come. */
  forget(stream: string): void {
    this.last.delete(stream);
  }
}
