import { randomUUID } from 'node:crypto';
import { LogFile } from '../log/log-file.js';
import { encodeTransaction, type ProposedEvent, type Write } from '../log/transaction.js';
import { decideAppend, decideDeletion, type Refusal, type StreamView } from './append-decision.js';
import type { ExpectedRevision } from './expected-revision.js';
import { RecentIds } from './recent-ids.js';
import { StreamIndex } from './stream-index.js';
import { isSoftDeleted, metadataStreamOf, reopening, softDeletion } from './stream-metadata.js';

export interface DatabaseOptions {
  readonly folder: string;
  /** Wait for the disk before an append is acknowledged, so that it survives the machine and not only the process. */
  readonly waitsForDisk: boolean;
  /** The most bytes of type, data and metadata of all events of one append. */
  readonly maxAppendBytes: number;
  /** How many bytes of ids are remembered for appends without an exact expected revision. */
  readonly recentIdBytes: number;
}

export type AppendOutcome =
  /** `head` is the revision of the batch's last event; -1 when the stream has none. */
  | { readonly kind: 'appended'; readonly head: number; readonly position: number | undefined }
  | { readonly kind: 'too-large'; readonly limit: number }
  | Refusal;

/** The streams, kept in a log file. One writer decides in the order of the calls. */
export class Database {
  readonly index: StreamIndex;
  private readonly log: LogFile;
  private readonly options: DatabaseOptions;
  private readonly recent: RecentIds;
  /** Resolves when everything that was decided so far is durable. */
  private settled: Promise<void> = Promise.resolve();

  private constructor(log: LogFile, index: StreamIndex, options: DatabaseOptions) {
    this.log = log;
    this.index = index;
    this.options = options;
    this.recent = new RecentIds(options.recentIdBytes);
  }

  static async open(options: DatabaseOptions): Promise<Database> {
    const { log, entries } = await LogFile.open(options.folder, options.waitsForDisk);
    const index = new StreamIndex();
    for (const { offset, bytes } of entries) index.load(offset, bytes);
    return new Database(log, index, options);
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly ProposedEvent[]): Promise<AppendOutcome> {
    const limit = this.options.maxAppendBytes;
    if (events.reduce((sum, event) => sum + sizeOf(event), 0) > limit) return { kind: 'too-large', limit };
    const ids = events.map(({ id }) => id);
    const decision = decideAppend(this.viewOf(stream), expected, ids);
    if (decision.kind === 'repeat') return this.acknowledge(stream, decision.last);
    if (decision.kind !== 'write') return this.afterSettling(decision);
    if (events.length === 0) return this.acknowledge(stream, decision.from - 1);
    const writes = [{ stream, from: decision.from, events }];
    this.write(decision.reopens ? [this.reopeningOf(stream, decision.from), ...writes] : writes);
    return this.acknowledge(stream, decision.from + events.length - 1);
  }

  /** Hides what the stream has; a later append opens it again. */
  async softDelete(stream: string, expected: ExpectedRevision): Promise<AppendOutcome> {
    const decision = decideDeletion(this.viewOf(stream), expected);
    if (decision.kind !== 'write') return this.afterSettling(decision);
    const name = metadataStreamOf(stream);
    const event = softDeletion(this.index.metadataOf(stream, 'staged'), randomUUID());
    const from = this.index.headOf(name, 'staged') + 1;
    this.write([{ stream: name, from, events: [event] }]);
    return this.acknowledge(name, from);
  }

  /** Ends the stream for ever. */
  async tombstone(stream: string, expected: ExpectedRevision): Promise<AppendOutcome> {
    const decision = decideDeletion(this.viewOf(stream), expected);
    if (decision.kind !== 'write') return this.afterSettling(decision);
    const none = new Uint8Array();
    const event = { id: randomUUID(), type: '', isJson: false, data: none, metadata: none };
    const position = this.write([{ stream, from: decision.from, events: [event], isTombstone: true }]);
    await this.settled;
    return { kind: 'appended', head: decision.from - 1, position };
  }

  close(): Promise<void> {
    return this.log.close();
  }

  private viewOf(stream: string): StreamView {
    const { index, recent } = this;
    return {
      head: index.headOf(stream, 'staged'),
      isSoftDeleted: isSoftDeleted(index.metadataOf(stream, 'staged')),
      isTombstoned: index.isTombstoned(stream, 'staged'),
      hasMetadata: index.headOf(metadataStreamOf(stream), 'staged') >= 0,
      idAt: (revision: number) => index.eventAt(stream, revision, 'staged')?.id,
      recentRevisionOf: (id: string) => recent.revisionOf(id, stream),
    };
  }

  private reopeningOf(stream: string, truncateBefore: number): Write {
    const name = metadataStreamOf(stream);
    const event = reopening(this.index.metadataOf(stream, 'staged'), truncateBefore, randomUUID());
    return { stream: name, from: this.index.headOf(name, 'staged') + 1, events: [event] };
  }

  /** Puts writes on their way to the disk, and says where they begin. */
  private write(writes: readonly Write[]): number {
    const transaction = { created: Date.now(), writes };
    const { offset, durable } = this.log.append(encodeTransaction(transaction));
    const count = this.index.stage(offset, transaction);
    for (const { stream, from, events } of writes) {
      for (const [place, { id }] of events.entries()) this.recent.remember(id, { stream, revision: from + place });
    }
    this.settled = durable.then(() => this.index.publishTo(count));
    // Whoever waits for it is told; it must not end the process where nobody does.
    this.settled.catch(() => undefined);
    return offset;
  }

  private async acknowledge(stream: string, head: number): Promise<AppendOutcome> {
    await this.settled;
    return { kind: 'appended', head, position: this.index.eventAt(stream, head, 'published')?.position };
  }

  /** A refusal also speaks of events that are on their way: it must not be heard before they are durable. */
  private async afterSettling(outcome: Refusal): Promise<AppendOutcome> {
    await this.settled;
    return outcome;
  }
}

function sizeOf({ type, data, metadata }: ProposedEvent): number {
  return Buffer.byteLength(type) + data.length + metadata.length;
}
