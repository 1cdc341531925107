import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { verifySession } from '@perdure/core';
import type { EventStore, InteractionResponse } from '@perdure/plugin-api';
import { bundle } from '../fixtures/bundle.js';
import { seesDeathAtOnce } from '../fixtures/killed-owner.js';
import { startWaitingNode, type WaitingNode } from './waiting.fixture.js';

const root = mkdtempSync(join(tmpdir(), 'perdure-waiting-'));
const children = new Set<ChildProcess>();
let program = '';
let many = '';
beforeAll(async () => {
  program = await bundle(new URL('waiting-process.fixture.ts', import.meta.url));
  many = await bundle(new URL('many-waiting.fixture.ts', import.meta.url));
});
afterEach(() => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

const place = (): string => mkdtempSync(join(root, 'run-'));
const runsOf = (folder: string): string[] =>
  existsSync(join(folder, 'runs')) ? readFileSync(join(folder, 'runs'), 'utf8').trim().split('\n') : [];
const waitUntil = async (condition: () => boolean | Promise<boolean>) => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
};

/** A process; resolves when it says that it is ready, or with its end. */
function start(args: readonly string[]): Promise<{ readonly child: ChildProcess; readonly out: string }> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  children.add(child);
  let out = '';
  let err = '';
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  return new Promise((resolve, reject) => {
    child.stdout.on('data', (data: Buffer) => {
      out += data.toString();
      if (out.includes('ready\n')) resolve({ child, out });
    });
    child.on('close', (code, signal) => {
      if (code === 0 || signal === 'SIGKILL') resolve({ child, out });
      else reject(new Error(`the process ended with ${code ?? signal}: ${err}`));
    });
  });
}

/** Long where the end of a process is seen; elsewhere its lease has to run out. */
const leaseTtlMs = seesDeathAtOnce ? 60_000 : 1_000;
const inProcess = (folder: string, nodeId: string, role: string, waitingGraceMs = 60_000) =>
  start([program, JSON.stringify({ folder, nodeId, role, waitingGraceMs, leaseTtlMs })]);

describe('a session that waits while processes die [P18]', () => {
  test.each([
    ['owner', 60_000],
    ['owner', 0],
    ['passivated', 60_000],
  ] as const)('goes on once: %s, grace %i', { timeout: 60_000 }, async (role, graceMs) => {
    const folder = place();
    const owner = await inProcess(folder, 'owner', role, graceMs);
    const [dead] = await Promise.all([
      inProcess(folder, 'answering', 'answer'),
      new Promise<void>((resolve) => setTimeout(resolve, graceMs === 0 ? 20 : 0)).then(
        () => role === 'owner' && owner.child.kill('SIGKILL'),
      ),
    ]);
    expect(dead.child.signalCode).toBe('SIGKILL');
    owner.child.kill('SIGKILL');
    await waitUntil(() => owner.child.exitCode !== null || owner.child.signalCode !== null);
    const ran = runsOf(folder).length;
    // Two processes find it, one takes it. Nobody in them asked for it.
    await Promise.all([inProcess(folder, 'b', 'runner'), inProcess(folder, 'c', 'runner')]);
    const { runtime } = await startWaitingNode({ folder, waitingGraceMs: 1_000, keepsSessions: false, agent: false });
    const { store } = runtime.services;
    const facts = async () => (await store.read('session-_.s')).facts;
    await waitUntil(async () =>
      (await facts()).some(({ payload }) => payload.includes('"status":"completed","steps"')),
    );
    expect(ran).toBe(0);
    expect(runsOf(folder)).toHaveLength(1);
    expect((await facts()).filter(({ type }) => type === 'ApprovalResolved')).toHaveLength(1);
    await verifySession(store, { id: 's' });
    await runtime.dispose();
  });
});

type Answer = (response?: Partial<InteractionResponse>) => Promise<void>;

/** A node that runs, and an answer from another that cannot. The wrapper may let it in between. */
async function twoNodes(setup: Omit<WaitingNode, 'folder'>) {
  const folder = place();
  const a = await startWaitingNode({ ...setup, folder, nodeId: 'a' });
  const b = await startWaitingNode({ folder, nodeId: 'b', waitingGraceMs: 0, keepsSessions: false, agent: false });
  const answer =
    (id: string): Answer =>
    async () => {
      const session = await b.agent.sessions.get(id);
      for (const asked of await session.interactions())
        await session.respond({ id: asked.id, decision: 'allow', by: 'ada' });
    };
  const dispose = async (): Promise<void> => {
    await b.runtime.dispose();
    await a.runtime.dispose();
  };
  return { folder, a, answer, dispose };
}

/** Does something around the commit that releases a session. */
const atRelease =
  (before: (stream: string) => Promise<void>, after: (stream: string) => Promise<void>) =>
  (events: EventStore): EventStore => ({
    name: events.name,
    capabilities: events.capabilities,
    limits: events.limits,
    append: async (stream, facts, options) => {
      const isRelease = facts.some(({ type }) => type === 'OwnershipReleased');
      if (isRelease) await before(stream);
      const result = await events.append(stream, facts, options);
      if (isRelease) await after(stream);
      return result;
    },
    read: (stream, options) => events.read(stream, options),
    subscribe: (source, options) => events.subscribe(source, options),
    truncate: (stream, until) => events.truncate(stream, until),
    close: () => events.close(),
  });

describe('an answer that meets a release [P18]', () => {
  test.each(['before', 'behind'] as const)('right %s its commit is not lost', { timeout: 30_000 }, async (order) => {
    let answer: Answer | undefined;
    const once = async (): Promise<void> => {
      const now = answer;
      answer = undefined;
      await now?.();
    };
    const never = (): Promise<void> => Promise.resolve();
    const around = order === 'before' ? atRelease(once, never) : atRelease(never, once);
    const nodes = await twoNodes({ waitingGraceMs: 30, around });
    answer = nodes.answer('s');
    const session = await nodes.a.agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('go');
    expect((await turn.finished).text).toBe('done');
    expect(answer).toBeUndefined();
    expect(runsOf(nodes.folder)).toHaveLength(1);
    const { facts } = await nodes.a.runtime.services.store.read('session-_.s');
    const taken = facts.filter(({ type }) => type === 'OwnershipTaken');
    // Before: the release is refused. Behind: the session is taken again.
    expect(taken).toHaveLength(order === 'before' ? 1 : 2);
    await nodes.dispose();
  });

  test('at any time is not lost, and each call runs once', { timeout: 120_000 }, async () => {
    const { a, answer, folder, dispose } = await twoNodes({ waitingGraceMs: 12 });
    const count = 60;
    const one = async (index: number): Promise<string> => {
      const session = await a.agent.sessions.create({ sessionId: `s${index}` });
      const turn = await session.prompt('go');
      let isAsked = false;
      while (!isAsked) isAsked = (await session.interactions()).length > 0;
      await new Promise((resolve) => setTimeout(resolve, index % 30));
      // Here or elsewhere, while the session is let go.
      if (index % 2 === 0) await answer(`s${index}`)();
      else {
        for (const { id } of await session.interactions()) await session.respond({ id, decision: 'allow', by: 'ada' });
      }
      return (await turn.finished).text;
    };
    const texts: string[] = [];
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < count; index = next++) texts.push(await one(index));
    };
    await Promise.all([work(), work(), work(), work()]);
    expect(texts).toEqual(Array(count).fill('done'));
    expect(new Set(runsOf(folder)).size).toBe(count);
    expect(runsOf(folder)).toHaveLength(count);
    await dispose();
  });
});

const SESSIONS = Number(process.env['PERDURE_WAITING_SESSIONS'] ?? 10_000);

describe(`${SESSIONS} sessions that wait in one process [P18]`, () => {
  test('hold nothing to speak of, are listed, and can each be answered', { timeout: 600_000 }, async () => {
    const order = JSON.stringify({ folder: place(), sessions: SESSIONS });
    const { out } = await start(['--expose-gc', many, order]);
    const report = JSON.parse(out.trim().split('\n').at(-1) ?? '') as {
      readonly before: number;
      readonly after: number;
      readonly waiting: number;
      readonly sample: number;
      readonly texts: readonly string[];
    };
    expect(report.waiting).toBe(SESSIONS + 1);
    // What callers hold is in it: a handle, and a promise of the turn's end.
    expect(report.after - report.before).toBeLessThan(48 * 1024 * 1024);
    expect(report.sample).toBeGreaterThanOrEqual(20);
    expect(report.texts).toEqual(Array(report.sample).fill('done'));
  });
});
