import type { AppendResult } from '@perdure/plugin-api';
import { isPerdureError } from '@perdure/plugin-api';
import { appendResult, appendStatement, appendValues, isRepeat, type AppendRequest } from './append-request.js';
import type { Connections, Statement } from './connections.js';
import { isAboutData, isDefinite, storeError } from './postgres-error.js';

/** More in one transaction would let others wait for too long. */
const MOST_BATCHES = 256;
const MOST_BYTES = 8 * 1024 * 1024;

interface Waiting {
  readonly request: AppendRequest;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: unknown) => void;
}

/** A batch that was stored, by this call or, as a repeat, before. */
export interface StoredBatch {
  readonly request: AppendRequest;
  readonly revision: number;
  readonly position: string;
  readonly isRepeat: boolean;
}

/** Is told of a batch before its writer is. */
export type OnStored = (stored: StoredBatch) => void;

/**
 * Puts the batches that come while one transaction is on its way into the next one, so that they share its round trip
 * and its wait for the disk. One transaction at a time: batches of one stream stay in their order.
 */
export class AppendQueue {
  private readonly connections: Connections;
  private readonly onStored: OnStored;
  private readonly statement: Statement;
  private waiting: Waiting[] = [];
  private running: Promise<void> | undefined;

  constructor(connections: Connections, schema: string, onStored: OnStored) {
    this.connections = connections;
    this.onStored = onStored;
    this.statement = appendStatement(schema);
  }

  append(request: AppendRequest): Promise<AppendResult> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ request, resolve, reject });
      this.running ??= this.run();
    });
  }

  /** Resolves when everything that waits has its result. */
  async drain(): Promise<void> {
    await this.running;
  }

  private async run(): Promise<void> {
    // Writers of this turn of the event loop come along.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.waiting.length > 0) await this.commit(this.nextGroup());
    this.running = undefined;
  }

  private nextGroup(): readonly Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { request } of this.waiting.slice(0, MOST_BATCHES)) {
      bytes += request.bytes;
      if (count > 0 && bytes > MOST_BYTES) break;
      count += 1;
    }
    return this.waiting.splice(0, count);
  }

  /** Never throws: every batch of the group has its outcome afterwards. */
  private async commit(group: readonly Waiting[]): Promise<void> {
    try {
      const rows = await this.connections.append(this.statement, appendValues(group.map(({ request }) => request)));
      for (const [index, { request, resolve }] of group.entries()) {
        const result = appendResult(rows[index]);
        if (result.status === 'stored') this.onStored({ request, ...result, isRepeat: isRepeat(rows[index]) });
        resolve(result);
      }
    } catch (error) {
      await this.settle(group, error);
    }
  }

  private async settle(group: readonly Waiting[], error: unknown): Promise<void> {
    // One batch is to blame, and it is not known which: each is tried alone and has its own outcome.
    if (isAboutData(error) && group.length > 1) {
      for (const waiting of group) await this.commit([waiting]);
      return;
    }
    const isKnown = isPerdureError(error) || isDefinite(error);
    for (const { resolve, reject } of group) {
      if (isKnown) reject(storeError(error));
      // The connection was lost, or fell silent, after the batch was sent: it may be stored, now or in a moment.
      else resolve({ status: 'ambiguous', cause: storeError(error) });
    }
  }
}
