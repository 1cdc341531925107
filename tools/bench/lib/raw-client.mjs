// What the client of a server does alone for a step: two appends of the bytes that a step of Perdure has, each at its
// exact place and each waiting for the one before. No validation, no hash, no fencing, no reader.
import { randomUUID } from 'node:crypto';
import { binaryEvent, EventStoreDBClient } from '@eventstore/db-client';
import pg from 'pg';
import { openPerdure } from './perdure.mjs';
import { prose } from './work.mjs';

/** The two batches of a step in the middle of a turn, as a runtime appends them. */
export async function batchesOfStep(folder) {
  const perdure = await openPerdure(folder, { store: 'memory' });
  const batches = [];
  const { store } = perdure.runtime.services;
  const append = store.append.bind(store);
  store.append = (stream, facts, options) => {
    if (stream.startsWith('session-')) batches.push(facts);
    return append(stream, facts, options);
  };
  await perdure.turn('s', prose('#rounds=6 '));
  await perdure.close();
  const first = batches.findIndex((facts, index) => index > 6 && facts[0].type === 'ModelAnswered');
  return batches.slice(first, first + 2);
}

export async function openRaw(server, { address, name }) {
  return server === 'postgres' ? openPostgres(address, name) : openEventStoreDb(address, name);
}

async function openPostgres(address, name) {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  await client.query(`create table ${name}(stream text, revision bigint, id uuid, type text, payload bytea,
    metadata bytea, primary key (stream, revision))`);
  const rows = (count) =>
    Array.from({ length: count }, (_, n) => `(${[1, 2, 3, 4, 5, 6].map((k) => `$${n * 6 + k}`).join(',')})`).join(',');
  return {
    async append(stream, facts, next) {
      const values = facts.flatMap(({ type, payload, metadata }, index) => [
        ...[stream, next + index, randomUUID(), type, Buffer.from(payload), Buffer.from(metadata)],
      ]);
      const text = `insert into ${name} values ${rows(facts.length)}`;
      await client.query({ name: `append${facts.length}`, text, values });
    },
    close: () => client.end(),
  };
}

async function openEventStoreDb(address, name) {
  const client = EventStoreDBClient.connectionString(address);
  return {
    async append(stream, facts, next) {
      const events = facts.map(({ type, payload, metadata }) =>
        binaryEvent({ id: randomUUID(), type, data: Buffer.from(payload), metadata: Buffer.from(metadata) }),
      );
      const expectedRevision = next === 0 ? 'no_stream' : BigInt(next - 1);
      await client.appendToStream(`raw-${name}-${stream}`, events, { expectedRevision });
    },
    close: () => client.dispose(),
  };
}
