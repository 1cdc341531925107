import type { ArtifactStore, EventStore } from '@perdure/plugin-api';
import { z } from 'zod';
import { invalidInput } from '@perdure/plugin-api/store-input';
import { CallQueue } from './append/call-queue.js';
import { ArtifactLog } from './artifact/artifact-log.js';
import { EventStoreDbArtifactStore } from './artifact/eventstoredb-artifact-store.js';
import type { Connection } from './client/connection.js';
import { connectByDbClient } from './client/db-client-connection.js';
import { EventStoreDbEventStore } from './eventstoredb-event-store.js';
import { Reader } from './read/reader.js';

const MIB = 1024 * 1024;
/** A chunk of an artifact with its metadata must fit. */
const LEAST_APPEND_BYTES = MIB / 2;

const connect = z.custom<(connectionString: string) => Connection>(
  (value) => typeof value === 'function',
  'must be a function',
);

/** The options with their defaults; see `EventStoreDbStoresOptions`. */
export const storesOptions = z.strictObject({
  connectionString: z.string().min(1),
  timeoutMs: z.int().min(1).default(10_000),
  maxAppendBytes: z.int().min(LEAST_APPEND_BYTES).default(MIB),
  maxArtifactBytes: z
    .int()
    .min(1)
    .default(64 * MIB),
  connect: connect.default(() => connectByDbClient),
});

export interface EventStoreDbStoresOptions {
  /** `esdb://` for one node or a list, `esdb+discover://` for a cluster. */
  readonly connectionString: string;
  /** Milliseconds after which a call is given up; an append is `ambiguous` then. 10,000 when absent. */
  readonly timeoutMs?: number;
  /** Bytes of one append; 1 MiB when absent, at least half of it. The server's own limit must not be smaller. */
  readonly maxAppendBytes?: number;
  /** 64 MiB when absent. */
  readonly maxArtifactBytes?: number;
  /** Makes a connection of the connection string, by another client than `@eventstore/db-client`. */
  readonly connect?: (connectionString: string) => Connection;
}

export interface EventStoreDbStores {
  readonly events: EventStore;
  readonly artifacts: ArtifactStore;
  /** Closes both stores and the connection. */
  close(): Promise<void>;
}

/** Half of the calls that a connection takes at one time, so that others have room on it. */
const CALLS_AT_ONCE = 50;

/**
 * Facts and artifacts in an EventStoreDB. Connects at the first call. Throws PERDURE_INPUT_INVALID for an option, and
 * PERDURE_CONFIGURATION for a connection string that is not one, which no error repeats.
 */
export function openEventStoreDbStores(given: EventStoreDbStoresOptions): EventStoreDbStores {
  const parsed = storesOptions.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalidInput(issue?.path.join('.') ?? '', issue?.message ?? 'is not valid');
  }
  const { connectionString, maxArtifactBytes, ...options } = parsed.data;
  const connection = options.connect(connectionString);
  const queue = new CallQueue(CALLS_AT_ONCE);
  const reader = new Reader(connection, queue, options.timeoutMs);
  let users = 2;
  const leave = async (): Promise<void> => {
    users -= 1;
    if (users === 0) await connection.close();
  };
  const events = new EventStoreDbEventStore({ connection, queue, reader }, options, leave);
  const log = new ArtifactLog(connection, reader, queue, options.timeoutMs);
  const artifacts = new EventStoreDbArtifactStore(log, maxArtifactBytes, leave);
  return {
    events,
    artifacts,
    async close() {
      for (const store of [events, artifacts]) await store.close();
    },
  };
}
