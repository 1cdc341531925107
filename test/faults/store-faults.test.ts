import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmulator, type EmulatorOptions, type FaultRule } from '@perdure/eventstoredb-emulator';
import type { PluginChoice } from '@perdure/plugin-api';
import { storeEventStoreDb } from '@perdure/store-eventstoredb';
import { storeMemory } from '@perdure/store-memory';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { governedRun, type RunReport } from './governed-run.js';

/** Every kind of fault at every call of a run, one in each run; else some of them, several in a run. */
const ALL = process.env['PERDURE_STORE_FAULTS'] === 'all';
/** How many runs are under way at one time, each on its own server: most of their time they wait for timers. */
const AT_ONCE = ALL ? 5 : 3;
/** After this the store gives a call up. Many runs share the processors: a call that nothing happens to must not. */
const TIMEOUT_MS = ALL ? 1_500 : 400;
/** No run may take longer, with all the tries that its faults cost. */
const HANGS_MS = 120_000;

const folder = mkdtempSync(join(tmpdir(), 'store-faults-'));
let plain: Undisturbed;
const rejections: unknown[] = [];
const onRejection = (reason: unknown): void => void rejections.push(reason);

type Undisturbed = Awaited<ReturnType<typeof runUnder>>;
type Fault = FaultRule['fault'];

beforeAll(async () => {
  process.on('unhandledRejection', onRejection);
  plain = await runUnder(() => []);
}, HANGS_MS);
afterAll(() => {
  process.removeListener('unhandledRejection', onRejection);
  rmSync(folder, { recursive: true, force: true });
});

/** A run on a server of its own, with its faults. Fails when it has not ended long after the last timer. */
async function runUnder(
  rulesOf: (port: number) => readonly FaultRule[],
  options: Partial<EmulatorOptions> = {},
): Promise<{ readonly report: RunReport; readonly calls: Readonly<Record<'append' | 'read' | 'subscribe', number>> }> {
  const server = await startEmulator({ folder: mkdtempSync(join(folder, 'run-')), waitsForDisk: false, ...options });
  const stores: readonly PluginChoice[] = [
    { plugin: storeEventStoreDb, config: { connectionString: server.connectionString, timeoutMs: TIMEOUT_MS } },
    { plugin: storeMemory, only: ['projection-store', 'snapshot-store'] },
  ];
  let timer: NodeJS.Timeout | undefined;
  const hangs = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`the run has not ended after ${HANGS_MS} ms`)), HANGS_MS);
  });
  try {
    for (const rule of rulesOf(server.port)) await server.faults.inject(rule);
    const report = await Promise.race([governedRun(stores), hangs]);
    return { report, calls: (await server.faults.counts()).total };
  } finally {
    clearTimeout(timer);
    await server.close();
  }
}

/** Runs that must come to what the undisturbed one came to: those that did not, and why. */
async function differences(runs: readonly ((port: number) => readonly FaultRule[])[]): Promise<string[]> {
  const found: string[] = [];
  const left = [...runs];
  const runNext = async (): Promise<void> => {
    for (let rulesOf = left.shift(); rulesOf !== undefined; rulesOf = left.shift()) {
      const rules = JSON.stringify(rulesOf(0).slice(0, 4));
      try {
        const { report } = await runUnder(rulesOf);
        if (JSON.stringify(report) !== JSON.stringify(plain.report)) found.push(`${rules}: ${JSON.stringify(report)}`);
      } catch (error) {
        found.push(`${rules}: ${String(error)}`);
      }
      // It may be of another run that is under way.
      found.push(...rejections.splice(0).map((reason) => `${rules}: unhandled ${String(reason)}`));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, runNext));
  return found;
}

/** Each fault at each call, or those of a sample together in a few runs. */
function everywhere(
  on: 'append' | 'read' | 'subscribe',
  faultsOf: (port: number) => readonly Fault[],
): readonly ((port: number) => readonly FaultRule[])[] {
  const count = faultsOf(0).length;
  const calls = Math.max(1, plain.calls[on]);
  const rule = (port: number, kind: number, skip: number): readonly FaultRule[] => {
    const fault = faultsOf(port)[kind];
    return fault === undefined ? [] : [{ on, fault, skip, times: 1 }];
  };
  const kinds = Array.from({ length: count }, (_, kind) => kind);
  const places = Array.from({ length: calls }, (_, place) => place);
  if (ALL) return kinds.flatMap((kind) => places.map((place) => (port: number) => rule(port, kind, place)));
  const runs = Math.ceil(count / 5);
  return Array.from({ length: runs }, (_, run) => (port: number) => {
    const mine = kinds.filter((kind) => kind % runs === run);
    return mine.flatMap((kind, index) => rule(port, kind, Math.floor(((index + kind / count) * calls) / mine.length)));
  });
}

const writes = (port: number): readonly Fault[] => [
  { kind: 'no-answer', committed: true },
  { kind: 'no-answer', committed: false },
  { kind: 'late-answer', ms: 2 * TIMEOUT_MS },
  { kind: 'cut', committed: true },
  { kind: 'cut', committed: false },
  { kind: 'end', committed: true },
  { kind: 'end', committed: false },
  { kind: 'unavailable', committed: true },
  { kind: 'unavailable', committed: false },
  { kind: 'cancelled', committed: true },
  { kind: 'timeout', committed: true },
  { kind: 'timeout', committed: false },
  { kind: 'busy' },
  // Nobody else leads: the client comes back.
  { kind: 'not-leader', host: '127.0.0.1', port: Math.max(1, port) },
];
const reads = (): readonly Fault[] => [
  { kind: 'no-answer', afterEvents: 1 },
  { kind: 'cut' },
  { kind: 'end', afterEvents: 1 },
  { kind: 'unavailable' },
  { kind: 'cancelled', afterEvents: 1 },
];

/** Every other append to each kind of stream: the first try of each. */
const eachFirstTry = (fault: Fault): readonly FaultRule[] =>
  ['session-', 'budget-', 'lease-', 'draft-'].flatMap((stream) =>
    Array.from({ length: 100 }, (_, place) => ({ on: 'append', fault, stream, skip: 2 * place, times: 1 }) as const),
  );

describe('a run in EventStoreDB comes to the same [P1] [P3] [P12]', () => {
  test('when every append of it fails at first', { timeout: 3_600_000 }, async () => {
    const chosen = (port: number) =>
      writes(port).filter(({ kind }, index) => kind !== 'late-answer' && (ALL || index === 3));
    const runs = chosen(0).map((_, index) => (port: number) => {
      const fault = chosen(port)[index];
      return fault === undefined ? [] : eachFirstTry(fault);
    });
    expect(await differences(runs)).toEqual([]);
  });

  test('whichever subscription fails', { timeout: 3_600_000 }, async () => {
    expect(await differences(everywhere('subscribe', reads))).toEqual([]);
  });

  test('when its connection has room for two calls at a time', { timeout: 2 * HANGS_MS }, async () => {
    const { report } = await runUnder(() => [], { maxStreamsPerConnection: 2 });
    expect(report).toEqual(plain.report);
    expect(rejections.splice(0)).toEqual([]);
  });

  test('whichever append of it fails, and however', { timeout: 3_600_000 }, async () => {
    expect(await differences(everywhere('append', writes))).toEqual([]);
  });

  test('whichever read fails', { timeout: 3_600_000 }, async () => {
    expect(await differences(everywhere('read', reads))).toEqual([]);
  });
});
