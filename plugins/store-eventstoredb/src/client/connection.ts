/** What the store needs of a client of EventStoreDB. Another client library is put in here, and nowhere else. */
export interface Connection {
  /** Appends a batch at an exact place, once. Rejects with what the client throws; `failureOf` tells what it means. */
  append(stream: string, events: readonly NewEvent[], options: AppendOptions): Promise<Appended>;

  /** Reads a page of a stream, and leaves nothing open; `undefined` when there is no such stream. */
  readStream(stream: string, options: ReadStreamOptions): Promise<Page | undefined>;

  /** Reads a page of the whole log behind a position; from its beginning without one. */
  readAll(options: ReadAllOptions): Promise<Page>;

  /** What is set for a stream, under the names that the server has for it; `undefined` when nothing ever was. */
  readSettings(stream: string, limits: Limits): Promise<Settings | undefined>;

  /** Sets it anew, at an exact place: `none` when nothing was set. */
  writeSettings(stream: string, values: Settings['values'], options: AppendOptions): Promise<void>;

  /** Tells what is appended from now on, but to the server's own streams and artifacts. Ends when the signal aborts. */
  watch(signal: AbortSignal): AsyncIterable<Watched>;

  close(): Promise<void>;
}

export interface NewEvent {
  readonly id: string;
  readonly type: string;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export interface StoredEvent extends NewEvent {
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
}

/** A place in the whole log. */
export interface Position {
  readonly commit: bigint;
  readonly prepare: bigint;
}

export interface Limits {
  /** Milliseconds after which a call that has not ended is given up. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

export interface AppendOptions extends Limits {
  readonly expected: number | 'none';
}

export interface Appended {
  /** Absent from some answers about a batch that was there already. */
  readonly position?: Position;
}

export interface ReadStreamOptions extends Limits {
  readonly from: number | 'end';
  readonly direction: 'forwards' | 'backwards';
  readonly limit: number;
}

export interface ReadAllOptions extends Limits {
  readonly after?: Position;
  readonly limit: number;
}

export interface Settings {
  readonly revision: number;
  readonly values: Readonly<Record<string, unknown>>;
}

export interface Page {
  readonly events: readonly StoredEvent[];
  /** The page was cut because its bytes are many or its time was over: there may be more, although it is not full. */
  readonly isCut: boolean;
}

/** `live`: everything that is appended behind the position, when it is known, is told from here on. */
export type Watched =
  { readonly kind: 'live'; readonly position?: Position } | { readonly kind: 'appended'; readonly event: StoredEvent };
