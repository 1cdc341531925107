import { setMaxListeners } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifySession } from '@perdure/core';
import { spawnEmulator } from '@perdure/eventstoredb-emulator';
import { openEventStoreDbStores } from '@perdure/store-eventstoredb';
import { MemoryProjectionStore } from '@perdure/store-memory';
import { openPostgresStores } from '@perdure/store-postgres';
import { seededRandom, startPostgresServer } from '@perdure/testing';
import { afterAll, afterEach, expect, test } from 'vitest';
import { waitUntil } from '../fixtures/wait-until.js';
import {
  again,
  driveTurns,
  factsOf,
  followStore,
  readEvents,
  shown,
  startStormNode,
  StormRecord,
  type Reader,
  type StormStores,
} from './storm-load.js';

/** How often the server of each kind is killed. */
const KILLS = Number(process.env['PERDURE_STORE_KILLS'] ?? 1);
const SESSIONS = ['a', 'b', 'c', 'd'];

const folder = mkdtempSync(join(tmpdir(), 'store-storm-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a test has started, the last first: however it ends, nothing of it stays. */
const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server that can be killed, and how a node opens its stores on it. */
interface StormServer {
  open(): Promise<StormStores>;
  kill(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

async function postgres(): Promise<StormServer> {
  const server = await startPostgresServer();
  return {
    open: () => openPostgresStores({ url: server.url, pollMs: 200, queryTimeoutMs: 5_000 }),
    kill: () => server.kill(),
    start: () => server.start(),
    stop: () => server.stop(),
  };
}

async function eventStoreDb(): Promise<StormServer> {
  const args = (port: string) => ['--folder', join(folder, 'log'), '--port', port, '--no-disk-wait'];
  let server = await spawnEmulator(args('0'));
  const { connectionString } = server;
  const { port } = new URL(connectionString.replace('esdb:', 'http:'));
  return {
    async open() {
      const stores = openEventStoreDbStores({ connectionString, timeoutMs: 2_000 });
      return { ...stores, projections: new MemoryProjectionStore(), close: () => stores.close() };
    },
    kill: () => server.end('SIGKILL'),
    async start() {
      server = await spawnEmulator(args(port));
    },
    stop: () => server.end(),
  };
}

/** Rejections that nobody handles and warnings of the process, until the test ends. */
function noteComplaints(): readonly unknown[] {
  const complaints: unknown[] = [];
  const note = (complaint: unknown): void => void complaints.push(complaint);
  process.on('unhandledRejection', note).on('warning', note);
  ends.push(() => Promise.resolve(void process.off('unhandledRejection', note).off('warning', note)));
  return complaints;
}

test.each([
  ['PostgreSQL', postgres],
  ['EventStoreDB', eventStoreDb],
])(
  `%s, killed ${KILLS} times under turns, loses and doubles nothing [P1] [P2] [P3] [P13]`,
  async (_, start) => {
    const complaints = noteComplaints();
    const server = await start();
    ends.unshift(() => server.stop());
    const record = new StormRecord();
    const startNode = async (name: string) => {
      const node = await startStormNode(name, () => server.open(), record);
      ends.unshift(() => node.runtime.dispose());
      return node;
    };
    const nodes = [await startNode('one'), await startNode('two')] as const;
    const [one, two] = nodes;
    const { store } = one.runtime.services;
    const leave = new AbortController();
    ends.unshift(() => Promise.resolve(leave.abort()));
    // One listener for each reader, and one for each follower of the store: more are left behind.
    setMaxListeners(SESSIONS.length * 4 + nodes.length, leave.signal);
    const ofStore = nodes.map(({ runtime }) => followStore(runtime.services.store, leave.signal));

    // Half of the sessions on each node; of each, readers on both, some of whom come again and again.
    let turns = 0;
    let isOver = false;
    const sessions = await Promise.all(
      SESSIONS.map((id, index) => (nodes[index % 2] ?? one).agent.sessions.create({ sessionId: id })),
    );
    const readers = SESSIONS.map((id, index) => {
      const [here, there] = index % 2 === 0 ? [one, two] : [two, one];
      return [
        readEvents(() => here.agent.sessions.get(id), leave.signal),
        readEvents(() => there.agent.sessions.get(id), leave.signal),
        readEvents(() => there.agent.sessions.get(id), leave.signal, 7),
      ];
    });
    const driven = sessions.map((session) =>
      driveTurns(
        session,
        () => isOver,
        () => (turns += 1),
      ),
    );

    const random = seededRandom(23);
    for (let round = 0; round < KILLS; round += 1) {
      const before = turns;
      await waitUntil(() => turns > before + 2);
      await sleep(random() * 150);
      await server.kill();
      await sleep(random() * 300);
      await server.start();
    }
    const before = turns;
    await waitUntil(() => turns > before + SESSIONS.length);
    isOver = true;
    const results = await Promise.all(driven);
    // What is told of the last turns is stored by now, and it is the end of what readers are compared by.

    // Every turn went on behind the kills as if there had been none.
    for (const of of results) expect(of.map(({ status }) => status)).toEqual(of.map(() => 'completed'));
    expect([...new Set(record.effects)]).toEqual(record.effects);
    const stored = new Map(
      await Promise.all(SESSIONS.map(async (id) => [id, await again(() => factsOf(store, id))] as const)),
    );
    for (const [index, id] of SESSIONS.entries()) {
      const facts = stored.get(id) ?? [];
      await verifySession(store, { id });
      const of = (type: string) => facts.filter((fact) => fact.type === type);
      expect(of('PromptAccepted')).toHaveLength(results[index]?.length ?? -1);
      expect(of('RunEnded').map(({ payload }) => (JSON.parse(payload) as { status: string }).status)).toEqual(
        results[index]?.map(() => 'completed'),
      );
      const settled = of('ToolCallSettled').map(
        ({ payload }) => JSON.parse(payload) as Record<'callId' | 'status', string>,
      );
      expect(settled.every(({ status }) => status === 'completed')).toBe(true);
      expect(new Set(settled.map(({ callId }) => callId)).size).toBe(settled.length);
      expect(settled).toHaveLength(3 * (results[index]?.length ?? -1));
      // What was acknowledged is there, at its place, and nothing twice.
      for (const [revision, eventId] of record.acknowledged.get(`session-_.${id}`) ?? []) {
        expect(facts[revision]?.id).toBe(eventId);
      }
      expect(new Set(facts.map((fact) => fact.id)).size).toBe(facts.length);
      expect(facts.map(({ revision }) => revision)).toEqual(facts.map((fact, place) => place));
    }

    // Readers of every kind have seen everything once, in order.
    for (const [index, id] of SESSIONS.entries()) {
      const end = stored.get(id)?.findLast(({ type }) => type === 'RunEnded')?.revision ?? -1;
      const hasEnd = ({ events }: Reader): boolean => shown(events, end).length > 0;
      const late = readEvents(() => two.agent.sessions.get(id), leave.signal);
      for (const reader of [late, ...(readers[index] ?? [])]) {
        await waitUntil(() => hasEnd(reader));
        expect(shown(reader.events, end)).toEqual(shown(late.events, end));
      }
    }
    const ids = [...stored.values()]
      .flat()
      .sort((x, y) => (x.position < y.position ? -1 : 1))
      .map(({ id }) => id);
    for (const { seen } of ofStore) {
      await waitUntil(() => ids.every((id) => seen.some((fact) => fact.id === id)));
      expect(seen.map(({ id }) => id).slice(0, ids.length)).toEqual(ids);
    }
    leave.abort();
    await Promise.all([...readers.flat(), ...ofStore].map(({ ended }) => ended));

    await Promise.all(nodes.map(({ runtime }) => runtime.dispose()));
    await server.stop();
    expect(complaints).toEqual([]);
  },
  900_000,
);
