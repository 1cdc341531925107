import { setTimeout as delay } from 'node:timers/promises';
import { join } from 'node:path';
import { createRuntime } from '@perdure/core';
import {
  ARTIFACT_STORE,
  definePlugin,
  EVENT_STORE,
  PROJECTION_STORE,
  SNAPSHOT_STORE,
  type EventStore,
} from '@perdure/plugin-api';
import { openEventStoreDbStores } from '@perdure/store-eventstoredb';
import { openPostgresStores } from '@perdure/store-postgres';
import { openSqliteStores } from '@perdure/store-sqlite';
import { scriptByRound, ScriptedModel } from '@perdure/testing';
import { z } from 'zod';
import { allowing } from '../fixtures/agents.js';
import { meteredStore, type StoreMeter } from '../fixtures/metered-store.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { Subscribers } from './scale-subscribers.js';

/**
 * One node with many sessions in a process of its own, started with --expose-gc: few sessions have a turn each, then
 * many at once while subscribers follow; then they are idle, and leave memory. Prints what was measured as JSON.
 */
export interface ScaleOrder {
  readonly store: 'eventstoredb' | 'postgres';
  readonly address: string;
  readonly folder: string;
  readonly sessions: number;
  readonly subscribers: number;
  readonly leaseTtlMs: number;
  readonly idleGraceMs: number;
  /** Milliseconds in which the writes of leases are counted, once with few sessions and once with many. */
  readonly windowMs: number;
}

export interface ScaleReport {
  readonly turnsMs: number;
  readonly completed: number;
  readonly subscribers: number;
  readonly subscribersWrong: readonly string[];
  readonly meter: Omit<StoreMeter, 'leases'>;
  readonly leases: number;
  readonly leaseWrites: { readonly few: number; readonly many: number };
  /** Of all sessions: those that were given back. */
  readonly released: number;
  readonly heap: { readonly before: number; readonly loaded: number; readonly idle: number };
  readonly again: readonly string[];
  readonly warnings: readonly string[];
}

const FEW = 10;
const order = JSON.parse(process.argv[2] ?? '{}') as ScaleOrder;
const { gc } = globalThis;
if (gc === undefined) throw new Error('it is started with --expose-gc');

async function openStores() {
  if (order.store === 'postgres') return openPostgresStores({ url: order.address, schema: 'scale' });
  const { events, artifacts, close } = openEventStoreDbStores({ connectionString: order.address });
  const local = await openSqliteStores({ path: join(order.folder, 'local.db') });
  const closeAll = async (): Promise<void> => {
    await close();
    await local.close();
  };
  return { events, artifacts, projections: local.projections, snapshots: local.snapshots, close: closeAll };
}

const opened = await openStores();
const { store, meter } = meteredStore(opened.events);
const stores = definePlugin({
  name: 'stores',
  api: 1,
  version: '1.0.0',
  config: z.object({}),
  provides: [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE, SNAPSHOT_STORE],
  setup: ({ provide }) => {
    provide(EVENT_STORE, store);
    provide(ARTIFACT_STORE, opened.artifacts);
    provide(PROJECTION_STORE, opened.projections);
    provide(SNAPSHOT_STORE, opened.snapshots);
    return { stop: () => opened.close() };
  },
});
const warnings: string[] = [];
const runtime = await createRuntime({
  plugins: [stores, allowing],
  env: { nodeId: 'one' },
  leaseTtlMs: order.leaseTtlMs,
  idleGraceMs: order.idleGraceMs,
  logger: {
    log: (level, message, data) => void (level !== 'info' && warnings.push(`${message} ${JSON.stringify(data)}`)),
  },
});
const script = scriptByRound([{ calls: [{ name: 'look', input: {} }] }, { text: 'done' }]);
const look = { description: 'Look.', inputSchema: z.object({}), effect: 'read' as const, execute: () => 'seen' };
const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script, { record: false }), tools: { look } });
await agent.ready();

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 5; round++) {
    await delay(20);
    gc?.();
  }
  return process.memoryUsage().heapUsed;
}

/** A caller keeps the handle of its session: the agent has it as long as it is not closed. */
async function turn(sessionId: string): Promise<string> {
  const session = await agent.sessions.get(sessionId).catch(() => agent.sessions.create({ sessionId }));
  const result = await session.send('go');
  return result.success ? result.text : `${result.status}: ${result.error?.message}`;
}

async function leaseWritesInWindow(): Promise<number> {
  const before = meter.stored['lease'] ?? 0;
  await delay(order.windowMs);
  return (meter.stored['lease'] ?? 0) - before;
}

const names = (prefix: string, count: number) => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const isReleased = async (events: EventStore, id: string): Promise<boolean> => {
  const { facts } = await events.read(`session-_.${id}`, { direction: 'backwards', limit: 1 });
  return facts[0]?.type === 'OwnershipReleased';
};

const few = names('few', FEW);
await Promise.all(few.map(turn));
const before = await heapUsed();
const fewWrites = await leaseWritesInWindow();

const many = names('many', order.sessions);
const subscribers = new Subscribers();
const readers = many.slice(0, Math.ceil(order.subscribers / 2));
await Promise.all(readers.map((id) => subscribers.ofSession(agent, id)));
while (subscribers.count < order.subscribers) subscribers.ofStore(opened.events, FEW + order.sessions);
const began = performance.now();
const texts = await Promise.all(many.map(turn));
const turnsMs = Math.round(performance.now() - began);
await waitUntil(() => subscribers.behind === 0);
const subscribersWrong = await subscribers.end();
const loaded = await heapUsed();
const manyWrites = await leaseWritesInWindow();

const all = [...few, ...many];
for (const id of all) await waitUntil(() => isReleased(opened.events, id));
const idle = await heapUsed();
const again = await Promise.all(all.slice(0, 10).map(turn));
await runtime.dispose();
const { leases, ...measured } = meter;
const report: ScaleReport = {
  turnsMs,
  completed: texts.filter((text) => text === 'done').length,
  subscribers: subscribers.count,
  subscribersWrong,
  meter: measured,
  leases: leases.size,
  leaseWrites: { few: fewWrites, many: manyWrites },
  released: all.length,
  heap: { before, loaded, idle },
  again,
  warnings: warnings.slice(0, 10),
};
process.stdout.write(`\n${JSON.stringify(report)}\n`);
