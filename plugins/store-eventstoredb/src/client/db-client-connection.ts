import {
  binaryEvent,
  EventStoreDBClient,
  jsonEvent,
  streamNameFilter,
  type AllStreamRecordedEvent,
  type AllStreamResolvedEvent,
  type RecordedEvent,
} from '@eventstore/db-client';
import { ARTIFACT_STREAM } from '../wire/artifact-stream.js';
import { addressOf } from './address.js';
import type {
  AppendOptions,
  Appended,
  Connection,
  Limits,
  NewEvent,
  Page,
  Position,
  ReadAllOptions,
  ReadStreamOptions,
  Settings,
  StoredEvent,
  Watched,
} from './connection.js';
import { failureOf } from './failure.js';
import { collect } from './collect.js';
import { Mailbox } from './mailbox.js';
import { within } from './timer.js';

/** How long the client may take to end its calls; after some failures it never does. */
const DISPOSE_MS = 1_000;

/** Neither the server's own streams nor the bytes of artifacts, which no follower wants. */
const WATCHED = `^(?!${ARTIFACT_STREAM})[^$]`;

/** EventStoreDB by its official client, `@eventstore/db-client`. Throws when the connection string is not one. */
export function connectByDbClient(connectionString: string): Connection {
  const { credentials, watchString } = addressOf(connectionString);
  const client = EventStoreDBClient.connectionString(connectionString);
  const watcher = EventStoreDBClient.connectionString(watchString);
  const withCredentials = credentials === undefined ? {} : { credentials };

  return {
    async append(
      stream: string,
      events: readonly NewEvent[],
      { expected, ...limits }: AppendOptions,
    ): Promise<Appended> {
      const append = client.appendToStream(
        stream,
        events.map(({ id, type, data, metadata }) => binaryEvent({ id, type, data, metadata })),
        {
          expectedRevision: expected === 'none' ? 'no_stream' : BigInt(expected),
          deadline: limits.timeoutMs,
          ...withCredentials,
        },
      );
      const { position } = await within(limits, append);
      return position === undefined ? {} : { position };
    },

    async readStream(stream, { from, direction, limit, ...limits }: ReadStreamOptions): Promise<Page | undefined> {
      const fromRevision = from === 'end' ? from : BigInt(from);
      const read = client.readStream(stream, { fromRevision, direction, maxCount: limit, ...withCredentials });
      try {
        return await collect(read, limits, ({ event }) => (event === undefined ? undefined : storedEvent(event)));
      } catch (error) {
        if (failureOf(error).kind === 'missing') return undefined;
        throw error;
      }
    },

    async readAll({ after, limit, ...limits }: ReadAllOptions): Promise<Page> {
      // The read begins with the event at the position, which the reader has.
      const [fromPosition, maxCount] =
        after === undefined ? (['start', limit] as const) : ([after, limit + 1] as const);
      const read = client.readAll({ fromPosition, maxCount, ...withCredentials });
      const eventOf = ({ event }: AllStreamResolvedEvent): StoredEvent | undefined =>
        event === undefined ? undefined : storedEvent(event);
      const page = await collect(read, limits, eventOf, true);
      return { ...page, events: page.events.filter(({ position }) => !isSame(position, after)) };
    },

    async readSettings(stream: string, limits: Limits): Promise<Settings | undefined> {
      const options = { fromRevision: 'end', direction: 'backwards', maxCount: 1 } as const;
      const read = client.readStream(`$$${stream}`, { ...options, ...withCredentials });
      try {
        const { events } = await collect(read, limits, ({ event }) => event);
        const [last] = events;
        return last === undefined ? undefined : { revision: Number(last.revision), values: valuesOf(last.data) };
      } catch (error) {
        if (failureOf(error).kind === 'missing') return undefined;
        throw error;
      }
    },

    async writeSettings(stream, values, { expected, ...limits }: AppendOptions): Promise<void> {
      const event = jsonEvent({ type: '$metadata', data: values });
      const append = client.appendToStream(`$$${stream}`, event, {
        expectedRevision: expected === 'none' ? 'no_stream' : BigInt(expected),
        deadline: limits.timeoutMs,
        ...withCredentials,
      });
      await within(limits, append);
    },

    async *watch(signal: AbortSignal): AsyncGenerator<Watched> {
      const mailbox = new Mailbox<Watched>();
      let checkpoint: Position | undefined;
      const filter = streamNameFilter({
        regex: WATCHED,
        maxSearchWindow: 1000,
        checkpointInterval: 1000,
        checkpointReached: (_, position) => void (checkpoint = position),
      });
      const subscription = watcher.subscribeToAll({ fromPosition: 'end', filter, ...withCredentials });
      let isLive = false;
      subscription.on('caughtUp', () => {
        // It comes again when the server had to catch up in between: nothing was lost then.
        if (!isLive) mailbox.put({ kind: 'live', ...(checkpoint !== undefined && { position: checkpoint }) });
        isLive = true;
      });
      subscription.on('data', ({ event }) => {
        const stored = event === undefined ? undefined : storedEvent(event);
        if (stored !== undefined) mailbox.put({ kind: 'appended', event: stored });
      });
      subscription.on('error', (error) => mailbox.fail(error));
      subscription.on('end', () => mailbox.fail(new Error('the subscription ended')));
      try {
        yield* mailbox.all(signal);
      } finally {
        void subscription.unsubscribe().catch(() => undefined);
      }
    },

    async close(): Promise<void> {
      const disposed = Promise.all([client.dispose(), watcher.dispose()]);
      await within({ timeoutMs: DISPOSE_MS }, disposed).catch(() => undefined);
    },
  };
}

function storedEvent(event: RecordedEvent | AllStreamRecordedEvent): StoredEvent | undefined {
  const { streamId, id, type, revision, position, data, metadata } = event;
  if (position === undefined) throw new Error('the server gives no positions: it is too old');
  // What is no fact is of others, or of the server itself: its bytes do not matter.
  const isBinary = data instanceof Uint8Array && metadata instanceof Uint8Array;
  const none = new Uint8Array();
  return {
    stream: streamId,
    id,
    type,
    revision: Number(revision),
    position,
    data: isBinary ? data : none,
    metadata: isBinary ? metadata : none,
  };
}

function valuesOf(data: unknown): Settings['values'] {
  return typeof data === 'object' && data !== null ? { ...data } : {};
}

function isSame(
  one: { commit: bigint; prepare: bigint },
  other: { commit: bigint; prepare: bigint } | undefined,
): boolean {
  return one.commit === other?.commit && one.prepare === other.prepare;
}
