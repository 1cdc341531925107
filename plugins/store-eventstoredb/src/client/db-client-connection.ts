import { binaryEvent, jsonEvent, streamNameFilter } from '@eventstore/db-client';
import { ARTIFACT_STREAM } from '../wire/artifact-stream.js';
import { addressOf } from './address.js';
import type {
  AppendOptions,
  Appended,
  Connection,
  Limits,
  NewEvent,
  Page,
  ReadAllOptions,
  ReadStreamOptions,
  Settings,
  Watched,
} from './connection.js';
import { collect, type StreamingRead } from './collect.js';
import { makeClient } from './make-client.js';
import { Mailbox } from './mailbox.js';
import { readAnswers, watchAnswers, type ReadAnswer } from './read-answers.js';
import { within } from './timer.js';

/** How long the client may take to end its calls; after some failures it never does. */
const DISPOSE_MS = 1_000;

/** Not the client's default, so that the watcher does not share the limit of calls of the other connection. */
const WATCH_KEEP_ALIVE_MS = 10_001;
/** Neither the server's own streams nor the bytes of artifacts, which no follower wants. */
const WATCHED = `^(?!${ARTIFACT_STREAM})[^$]`;

/** EventStoreDB by its official client, `@eventstore/db-client`. Throws PERDURE_CONFIGURATION. */
export function connectByDbClient(connectionString: string): Connection {
  const address = addressOf(connectionString);
  const client = makeClient(address);
  const watcher = makeClient(address, WATCH_KEEP_ALIVE_MS);
  const { callCredentials: credentials } = address;
  const withCredentials = credentials === undefined ? {} : { credentials };

  const readStream = async (
    stream: string,
    { from, direction, limit, ...limits }: ReadStreamOptions,
  ): Promise<Page | undefined> => {
    const fromRevision = from === 'end' ? from : BigInt(from);
    const options = { fromRevision, direction, maxCount: limit, ...withCredentials };
    const page = await collect(asAnswers(client.readStream(stream, options, readAnswers())), limits);
    return page.isMissing ? undefined : { events: page.events, isCut: page.isCut };
  };

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

    readStream,

    async readAll({ after, limit, ...limits }: ReadAllOptions): Promise<Page> {
      // The read begins with the event at the position, which the reader has.
      const [fromPosition, maxCount] =
        after === undefined ? (['start', limit] as const) : ([after, limit + 1] as const);
      const read = client.readAll({ fromPosition, maxCount, ...withCredentials }, readAnswers());
      const page = await collect(asAnswers(read), limits, true);
      return { isCut: page.isCut, events: page.events.filter(({ position }) => !isSame(position, after)) };
    },

    async readSettings(stream: string, limits: Limits): Promise<Settings | undefined> {
      const page = await readStream(`$$${stream}`, { from: 'end', direction: 'backwards', limit: 1, ...limits });
      const [last] = page?.events ?? [];
      return last === undefined ? undefined : { revision: last.revision, values: valuesOf(last.data) };
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
      const filter = streamNameFilter({
        regex: WATCHED,
        maxSearchWindow: 1000,
        checkpointInterval: 1000,
      });
      const options = { fromPosition: 'end', filter, ...withCredentials } as const;
      const subscription = watcher.subscribeToAll(options, watchAnswers());
      subscription.on('data', (watched: unknown) => mailbox.put(watched as Watched));
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

/** A read whose events the client gives as `readAnswers` makes them. */
function asAnswers(read: unknown): StreamingRead<ReadAnswer> {
  return read as StreamingRead<ReadAnswer>;
}

function valuesOf(data: Uint8Array): Settings['values'] {
  const values: unknown = JSON.parse(Buffer.from(data).toString('utf8'));
  return typeof values === 'object' && values !== null ? { ...values } : {};
}

function isSame(
  one: { commit: bigint; prepare: bigint },
  other: { commit: bigint; prepare: bigint } | undefined,
): boolean {
  return one.commit === other?.commit && one.prepare === other.prepare;
}
