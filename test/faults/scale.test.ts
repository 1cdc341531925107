import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { spawnEmulator } from '@perdure/eventstoredb-emulator';
import { startPostgresServer } from '@perdure/testing';
import { afterAll, describe, expect, test, type TestContext } from 'vitest';
import type { ScaleOrder, ScaleReport } from './scale.fixture.js';

// `PERDURE_SCALE_SESSIONS=2000 npx vitest run test/faults/scale.test.ts` is the full size.
const isAsked = process.env['PERDURE_SCALE_SESSIONS'] !== undefined;
const sessions = Number(process.env['PERDURE_SCALE_SESSIONS'] ?? 30);
const subscribers = 140;
const isSmall = sessions < 1_000;
/** The plugin's timer by default. All begin in one moment, so that the last of many waits for its turn. */
const SLOWEST_MS = isSmall ? 10_000 : 60_000;
const LEASE_TTL_MS = isSmall ? 1_500 : 10_000;
/** What EventStoreDB and its client have for one connection. */
const STREAMS = 100;
const KIB = 1024;

const root = mkdtempSync(join(tmpdir(), 'perdure-scale-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A node with many sessions, to its end; it does not outlast a test that fails. */
async function run(
  store: ScaleOrder['store'],
  address: string,
  onTestFinished: TestContext['onTestFinished'],
): Promise<ScaleReport> {
  const order: ScaleOrder = {
    ...{ store, address, sessions, subscribers, folder: mkdtempSync(join(root, 'node-')) },
    leaseTtlMs: LEASE_TTL_MS,
    windowMs: LEASE_TTL_MS,
    idleGraceMs: isSmall ? 2_000 : 60_000,
  };
  const program = fileURLToPath(new URL('scale.fixture.ts', import.meta.url));
  const args = ['--expose-gc', '--import', 'tsx', '--conditions=@perdure/source', program, JSON.stringify(order)];
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let out = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  const code = await new Promise((resolve) => child.on('close', resolve));
  expect(code).toBe(0);
  const report = JSON.parse(out.trim().split('\n').at(-1) ?? '') as ScaleReport;
  if (isAsked) console.log(store, JSON.stringify(report, undefined, 1));
  return report;
}

function expectWhole(report: ScaleReport): void {
  expect(report).toMatchObject({ completed: sessions, subscribers, subscribersWrong: [], warnings: [] });
  expect(report.meter.failures).toEqual([]);
  expect(report.meter.slowestMs).toBeLessThan(SLOWEST_MS);
  expect(report.meter.slowestLeaseMs).toBeLessThan(LEASE_TTL_MS);
  // One lease, and as many renewals in a time as with few sessions; one more or less falls on its edges.
  expect(report.leases).toBe(1);
  expect(report.leaseWrites.few).toBeGreaterThan(0);
  expect(Math.abs(report.leaseWrites.many - report.leaseWrites.few)).toBeLessThanOrEqual(1);
  // What callers hold is in it, and what the store keeps of the last appends, which has a bound of its own.
  expect(report.released).toBe(sessions + 10);
  expect(report.heap.idle - report.heap.before).toBeLessThan(16 * KIB * KIB + sessions * 6 * KIB);
  expect(report.again).toEqual(Array(10).fill('done'));
}

describe.concurrent(`${sessions} sessions on one node, ${subscribers} subscribers [P4] [P13] [P18]`, () => {
  test('the client of EventStoreDB never blocks', { timeout: 600_000 }, async ({ onTestFinished }) => {
    const server = await spawnEmulator(['--port', '0', '--folder', mkdtempSync(join(root, 'server-'))]);
    let open = 0;
    let subscriptions = 0;
    let isOver = false;
    onTestFinished(async () => {
      isOver = true;
      await server.end();
    });
    const watching = (async (): Promise<void> => {
      while (!isOver) {
        const counts = await server.faults.counts();
        open = Math.max(open, counts.open.append + counts.open.read + counts.open.subscribe);
        subscriptions = Math.max(subscriptions, counts.open.subscribe);
        await delay(20);
      }
    })();
    const report = await run('eventstoredb', server.connectionString, onTestFinished);
    isOver = true;
    await watching;
    expectWhole(report);
    if (isAsked) console.log({ open, subscriptions });
    // One subscription serves them all, and no connection comes near to its bound.
    expect(subscriptions).toBe(1);
    expect(open).toBeLessThan(STREAMS * 0.75);
  });

  test('PostgreSQL is asked over no more connections than the store has', { timeout: 600_000 }, async (context) => {
    // One that appends, one that listens, and four for the rest: the server refuses another.
    const settings = { max_connections: '6', superuser_reserved_connections: '0', max_wal_senders: '0' };
    const server = await startPostgresServer({ settings });
    context.onTestFinished(() => server.stop());
    expectWhole(await run('postgres', server.socketUrl, context.onTestFinished));
  });
});
