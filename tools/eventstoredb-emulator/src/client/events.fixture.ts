import { jsonEvent, type EventStoreDBClient, type ReadStreamOptions, type ResolvedEvent } from '@eventstore/db-client';
import { randomUUID } from 'node:crypto';

export function counted(n: number, id: string = randomUUID()) {
  return jsonEvent({ id, type: 'Counted', data: { n } });
}

export function countedTo(count: number): ReturnType<typeof counted>[] {
  return Array.from({ length: count }, (_, n) => counted(n));
}

/** All that a read gives. */
export async function readWhole(
  client: EventStoreDBClient,
  stream: string,
  options: ReadStreamOptions = {},
): Promise<ResolvedEvent[]> {
  return collect(client.readStream(stream, options));
}

export async function collect<One>(source: AsyncIterable<One>): Promise<One[]> {
  const all: One[] = [];
  for await (const one of source) all.push(one);
  return all;
}

/** The numbers of counted events. */
export function numbersOf(events: readonly ResolvedEvent[]): unknown[] {
  return events.map(({ event }) => (event?.data as { n?: number } | undefined)?.n);
}

export function revisionsOf(events: readonly ResolvedEvent[]): unknown[] {
  return events.map(({ event }) => event?.revision);
}
