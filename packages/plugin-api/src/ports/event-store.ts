import type { RecordedFact } from '@perdure/events';

/**
 * Where streams of facts are kept. Four verbs; each promise below has a requirement in the conformance suite.
 * Revisions of a stream start at 0 and have no gaps. A position is a place in the whole store: opaque text of fixed
 * width that sorts as text; the order of positions is the order in which facts became visible. Input that is not
 * allowed throws PERDURE_INPUT_INVALID with its field; `@perdure/plugin-api/store-input` has the checks.
 */
export interface EventStore {
  readonly name: string;
  readonly capabilities: EventStoreCapabilities;
  readonly limits: EventStoreLimits;

  /**
   * Appends a batch as a whole or not at all. After `stored` the batch survives the death of the process and of the
   * machine (streams of the categories `draft` and `lease`: of the process). The same ids at the same place again are
   * `stored`, whatever was appended behind them; the result is about the batch's last fact. Throws
   * PERDURE_STORE_UNAVAILABLE when nothing can be stored.
   */
  append(stream: string, facts: readonly NewFact[], options: AppendOptions): Promise<AppendResult>;

  /** Reads a page of a stream; an empty one when there is no such stream. Rejects with the reason of its signal. */
  read(stream: string, options?: ReadOptions): Promise<ReadPage>;

  /**
   * Follows a stream (by revision) or the whole store (by position): what is there, then what comes, without a gap or a
   * double. The first batch with `caughtUp` ends the past. Ends when the signal aborts or the store closes.
   */
  subscribe(source: StreamSource | StoreSource, options?: SubscribeOptions): AsyncIterable<FactBatch>;

  /**
   * Gives up the facts before a revision, at once or later. The head stays: revisions go on and `none` keeps failing.
   * Followers of the whole store may still be given truncated facts.
   */
  truncate(stream: string, before: number): Promise<void>;

  /** Ends all subscriptions and lets the process exit. */
  close(): Promise<void>;
}

/** `shared`: other processes may use the store too and `subscribe` sees them. `durable`: facts survive the process. */
export interface EventStoreCapabilities {
  readonly shared: boolean;
  readonly durable: boolean;
}

/** `maxEventBytes` of payload and metadata of one fact, at least 256 KiB, and `maxBatch` facts of one batch. */
export interface EventStoreLimits {
  readonly maxEventBytes: number;
  readonly maxBatch: number;
}

export interface NewFact {
  /** A UUID in lower case, made before the first try and kept for every repeat. */
  readonly id: string;
  readonly type: string;
  /** JSON text without U+0000 or half surrogate pairs; a store keeps its UTF-8 bytes and returns the same text. */
  readonly payload: string;
  readonly metadata: string;
  /** Needed only while its step is open, and by auditors: reads with `omitDetail` pass it by. */
  readonly detail?: boolean;
}

/** The revision of the last fact of a stream, or `none` for a stream that has never had one. */
export type ExpectedRevision = number | 'none';
export type AppendOptions = { readonly expected: ExpectedRevision };
export type AppendResult =
  | { readonly status: 'stored'; readonly revision: number; readonly position: string }
  | { readonly status: 'conflict'; readonly actual: ExpectedRevision }
  | { readonly status: 'too-large'; readonly bytes: number; readonly limit: number }
  /** It is not known whether the batch was stored: send the identical batch again. */
  | { readonly status: 'ambiguous'; readonly cause: unknown };

export interface ReadOptions {
  /** The first revision to read; the beginning, or for `backwards` the end, when absent. */
  readonly from?: number;
  readonly direction?: 'forwards' | 'backwards';
  /** At most this many facts; at most 1,000 when absent. */
  readonly limit?: number;
  /** Leave out the facts that were appended as `detail`. */
  readonly omitDetail?: boolean;
  readonly signal?: AbortSignal;
}

export interface ReadPage {
  readonly facts: readonly RecordedFact[];
  /** Where the next page begins; absent at the end of the stream. */
  readonly next?: number;
  /** The last revision of the stream when the page was read. */
  readonly head: ExpectedRevision;
}

export interface StreamSource {
  readonly stream: string;
  /** The last revision that the follower has; the stream's beginning when absent. */
  readonly after?: number;
}

export interface StoreSource {
  readonly all: true;
  /** The last position that the follower has; the store's beginning when absent. */
  readonly after?: string;
}

export interface SubscribeOptions {
  /** Only facts of streams of these categories; all when absent. */
  readonly categories?: readonly string[];
  /** Only facts of these types; all when absent. */
  readonly types?: readonly string[];
  readonly signal?: AbortSignal;
}

export interface FactBatch {
  readonly facts: readonly RecordedFact[];
  /** Everything that was stored before this batch was made has been given. */
  readonly caughtUp: boolean;
  /** Of the whole store: the place to go on from, also past facts that the filter left out. */
  readonly position?: string;
}
