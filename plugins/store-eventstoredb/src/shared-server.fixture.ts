import { randomUUID } from 'node:crypto';
import type { StorePlace } from '@perdure/testing/conformance';
import type { Connection, Page, Position, ReadAllOptions, StoredEvent, Watched } from './client/connection.js';
import { connectByDbClient } from './client/db-client-connection.js';
import { storeOf } from './emulator.fixture.js';
import { openEventStoreDbStores, type EventStoreDbStores } from './open-eventstoredb-stores.js';

const TIMEOUT_MS = 10_000;

/** A place of its own on a server that others use too: streams have its name at their ends, and no other is seen. */
export async function placeAt<Name extends 'events' | 'artifacts'>(
  connectionString: string,
  name: Name,
): Promise<Required<StorePlace<EventStoreDbStores[Name]>>> {
  const place = `@${randomUUID()}`;
  const begin = await beginOf(connectionString, place);
  const connect = (text: string): Connection => placed(connectByDbClient(text), place, begin);
  const open = async () => storeOf(name, openEventStoreDbStores({ connectionString, connect }));
  return { store: await open(), reopen: open, openSecond: open, dispose: () => Promise.resolve() };
}

/** Where the log of the server ends, so that nothing of others that came before is read. */
async function beginOf(connectionString: string, place: string): Promise<Position> {
  const connection = connectByDbClient(connectionString);
  const none = new Uint8Array();
  const event = { id: randomUUID(), type: 'PlaceBegun', data: none, metadata: none };
  const { position } = await connection.append(`place${place}`, [event], { expected: 'none', timeoutMs: TIMEOUT_MS });
  await connection.close();
  if (position === undefined) throw new Error('The server did not tell where it stored an event.');
  return position;
}

function placed(server: Connection, place: string, begin: Position): Connection {
  const inside = (event: StoredEvent): StoredEvent[] =>
    event.stream.endsWith(place) ? [{ ...event, stream: event.stream.slice(0, -place.length) }] : [];
  const namedIn = (page: Page): Page => ({ ...page, events: page.events.flatMap(inside) });
  return {
    append: (stream, events, options) => server.append(stream + place, events, options),
    async readStream(stream, options) {
      const page = await server.readStream(stream + place, options);
      return page === undefined ? undefined : namedIn(page);
    },
    async readAll({ after, limit, ...limits }: ReadAllOptions): Promise<Page> {
      const events: StoredEvent[] = [];
      for (let position = after ?? begin; ;) {
        const page = await server.readAll({ after: position, limit, ...limits });
        events.push(...page.events.flatMap(inside));
        const isEnd = !page.isCut && page.events.length < limit;
        if (events.length >= limit) return { events: events.slice(0, limit), isCut: true };
        if (isEnd) return { events, isCut: false };
        position = page.events.at(-1)?.position ?? position;
      }
    },
    readSettings: (stream, limits) => server.readSettings(stream + place, limits),
    writeSettings: (stream, values, options) => server.writeSettings(stream + place, values, options),
    async *watch(signal): AsyncGenerator<Watched> {
      for await (const watched of server.watch(signal)) {
        if (watched.kind === 'live') yield watched;
        else for (const event of inside(watched.event)) yield { kind: 'appended', event };
      }
    },
    close: () => server.close(),
  };
}
