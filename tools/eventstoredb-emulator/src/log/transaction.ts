/** An event as a writer gives it. */
export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly isJson: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

/** Events that are stored together in one stream; a tombstone instead of events ends the stream for ever. */
export interface Write {
  readonly stream: string;
  /** The revision of the first event. */
  readonly from: number;
  readonly events: readonly ProposedEvent[];
  readonly isTombstone?: boolean;
}

/** What one entry of the log holds: all of it is stored, or nothing. */
export interface Transaction {
  /** Milliseconds since the epoch. */
  readonly created: number;
  readonly writes: readonly Write[];
}

interface Header {
  readonly created: number;
  readonly writes: readonly {
    readonly stream: string;
    readonly from: number;
    readonly isTombstone?: true;
    readonly events: readonly (readonly [id: string, type: string, isJson: boolean, data: number, metadata: number])[];
  }[];
}

/** Lengths and names as JSON, and then the bytes of all events one after the other. */
export function encodeTransaction({ created, writes }: Transaction): Buffer {
  const header: Header = {
    created,
    writes: writes.map(({ stream, from, events, isTombstone }) => ({
      stream,
      from,
      ...(isTombstone === true && { isTombstone }),
      events: events.map(({ id, type, isJson, data, metadata }) => [id, type, isJson, data.length, metadata.length]),
    })),
  };
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.allocUnsafe(4);
  length.writeUInt32BE(text.length);
  const bodies = writes.flatMap(({ events }) => events.flatMap(({ data, metadata }) => [data, metadata]));
  return Buffer.concat([length, text, ...bodies]);
}

export function decodeTransaction(bytes: Buffer): Transaction {
  const textEnd = 4 + bytes.readUInt32BE(0);
  const header = JSON.parse(bytes.toString('utf8', 4, textEnd)) as Header;
  let at = textEnd;
  const take = (length: number): Uint8Array => bytes.subarray(at, (at += length));
  const writes = header.writes.map(({ stream, from, isTombstone, events }) => ({
    stream,
    from,
    ...(isTombstone === true && { isTombstone }),
    events: events.map(([id, type, isJson, data, metadata]) => ({
      id,
      type,
      isJson,
      data: take(data),
      metadata: take(metadata),
    })),
  }));
  return { created: header.created, writes };
}
