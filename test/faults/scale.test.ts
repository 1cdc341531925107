import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawnEmulator } from '@perdure/eventstoredb-emulator';
import { startPostgresServer } from '@perdure/testing';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import type { ScaleOrder, ScaleReport } from './scale.fixture.js';

// `PERDURE_SCALE_SESSIONS=2000 npx vitest run test/faults/scale.test.ts` is the full size.
const sessions = Number(process.env['PERDURE_SCALE_SESSIONS'] ?? 30);
const subscribers = 140;
/** The plugin's timer by default. */
const TIMER_MS = 10_000;
/** What EventStoreDB and its client have for one connection. */
const STREAMS = 100;
const KIB = 1024;

const root = mkdtempSync(join(tmpdir(), 'perdure-scale-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** What a test has started, the last first: however it ends, nothing of it stays. */
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A node with many sessions, to its end. */
async function run(store: ScaleOrder['store'], address: string): Promise<ScaleReport> {
  const isSmall = sessions < 1_000;
  const order: ScaleOrder = {
    ...{ store, address, sessions, subscribers, folder: mkdtempSync(join(root, 'node-')) },
    leaseTtlMs: isSmall ? 1_500 : 10_000,
    windowMs: isSmall ? 1_500 : 10_000,
    idleGraceMs: isSmall ? 3_000 : 60_000,
  };
  const program = fileURLToPath(new URL('scale.fixture.ts', import.meta.url));
  const args = ['--expose-gc', '--import', 'tsx', '--conditions=@perdure/source', program, JSON.stringify(order)];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  ends.unshift(() => child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(code).toBe(0);
  const report = JSON.parse(out.trim().split('\n').at(-1) ?? '') as ScaleReport;
  if (process.env['PERDURE_SCALE_SESSIONS'] !== undefined) console.log(store, JSON.stringify(report, undefined, 1));
  return report;
}

function expectWhole(report: ScaleReport): void {
  expect(report).toMatchObject({ completed: sessions, subscribers, subscribersWrong: [], warnings: [] });
  expect(report.meter.failures).toEqual([]);
  expect(report.meter.slowestMs).toBeLessThan(TIMER_MS);
  // One lease, and as many renewals in a time as with few sessions; one more or less falls on its edges.
  expect(report.leases).toBe(1);
  expect(report.leaseWrites.few).toBeGreaterThan(0);
  expect(Math.abs(report.leaseWrites.many - report.leaseWrites.few)).toBeLessThanOrEqual(1);
  // What callers hold is in it, and what the store keeps of the last appends, which has a bound of its own.
  expect(report.released).toBe(sessions + 10);
  expect(report.heap.idle - report.heap.before).toBeLessThan(16 * KIB * KIB + sessions * 6 * KIB);
  expect(report.again).toEqual(Array(10).fill('done'));
}

describe(`${sessions} sessions on one node, ${subscribers} subscribers [P4] [P13] [P18]`, () => {
  test('the client of EventStoreDB never blocks', { timeout: 600_000 }, async () => {
    const server = await spawnEmulator(['--port', '0', '--folder', mkdtempSync(join(root, 'server-'))]);
    ends.push(() => server.end());
    let open = 0;
    let subscriptions = 0;
    let isOver = false;
    ends.unshift(() => (isOver = true));
    const watching = (async () => {
      while (!isOver) {
        const counts = await server.faults.counts();
        open = Math.max(open, counts.open.append + counts.open.read + counts.open.subscribe);
        subscriptions = Math.max(subscriptions, counts.open.subscribe);
        await delay(20);
      }
    })();
    const report = await run('eventstoredb', server.connectionString);
    isOver = true;
    await watching;
    expectWhole(report);
    // One subscription serves them all, and no connection comes near to its bound.
    expect(subscriptions).toBe(1);
    expect(open).toBeLessThan(STREAMS * 0.75);
  });

  test('PostgreSQL is asked over no more connections than the store has', { timeout: 600_000 }, async () => {
    // One that appends, one that listens, and four for the rest: the server refuses another.
    const settings = { max_connections: '6', superuser_reserved_connections: '0', max_wal_senders: '0' };
    const server = await startPostgresServer({ settings });
    ends.push(() => server.stop());
    expectWhole(await run('postgres', server.socketUrl));
  });
});
