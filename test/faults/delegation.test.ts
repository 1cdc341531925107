import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FactMetadata } from '@perdure/events';
import { waitUntil } from '../fixtures/wait-until.js';
import { treeNode } from './delegation-node.fixture.js';
import {
  besideStopped,
  count,
  endsOf,
  isOver,
  isTakenBack,
  isUnborn,
  linesOf,
  treeOf,
  TreeProcesses,
  type Tree,
} from './delegation-tree.js';

/** How wide the tree is, and at how many points of its work a process dies or stands still. */
const WIDTH = Number(process.env['PERDURE_DELEGATION_WIDTH'] ?? 8);
const POINTS = Number(process.env['PERDURE_DELEGATION_POINTS'] ?? 2);
/** Milliseconds in which all of a tree end after a cancel at its root. */
const CANCEL_MS = 1_000;

const processes = new TreeProcesses();
beforeAll(() => processes.prepare());
afterAll(() => processes.end());

/** Pieces of work that are logged: from none until all that can be done is done and the others are at work. */
const points = Array.from({ length: POINTS }, (_, index) =>
  Math.floor((index * WIDTH * 1.5) / Math.max(1, POINTS - 1)),
);
/** Children whose stream is not made yet when the process halts, from the first to the last. */
const BIRTHS = Math.max(2, Math.ceil(POINTS / 4));
const births = Array.from({ length: BIRTHS }, (_, index) => 1 + Math.floor((index * (2 * WIDTH - 1)) / (BIRTHS - 1)));

/** Every session of a tree was made once and has done its work once, and its end is told above. */
function expectWhole(tree: Tree): void {
  expect(tree.size).toBe(1 + 2 * WIDTH);
  for (const [id, facts] of tree) {
    expect([id, count(facts, 'SessionCreated'), count(facts, 'PromptAccepted')]).toEqual([id, 1, 1]);
    expect([id, endsOf(facts, 'completed')]).toEqual([id, 1]);
    expect(count(facts, 'ChildEnded')).toBe(count(facts, 'ChildStarted'));
  }
}

/** What had ended was left alone: whoever was late with it may give it back, or tell what its call came to. */
function expectNoneRepeated(before: Tree, after: Tree): void {
  for (const [id, facts] of before) {
    if (endsOf(facts, 'completed') === 0) continue;
    const later = (after.get(id) ?? []).slice(facts.length).map(({ type }) => type);
    const isTold = (type: string): boolean => type === 'OwnershipReleased' || type === 'LateResultReported';
    expect([id, later.filter((type) => !isTold(type))]).toEqual([id, []]);
  }
}

/** When a stop is told, it is a fact in every session that has not ended. */
function expectStopped(tree: Tree): void {
  for (const [id, facts] of tree) {
    const isStopped = count(facts, 'StopRequested') > 0 || isTakenBack(facts);
    expect([id, endsOf(facts, 'completed') > 0 || isStopped]).toEqual([id, true]);
  }
}

/** Milliseconds from the stop at the root to the last end below it, by what the facts say. */
function cancelTook(tree: Tree): number {
  const timeOf = ({ metadata }: { metadata: string }): number => (JSON.parse(metadata) as FactMetadata).time;
  const stop = tree.get('s')?.find(({ type }) => type === 'StopRequested');
  const ends = [...tree.values()].flatMap((facts) => facts.filter(({ type }) => type === 'RunEnded').map(timeOf));
  return stop === undefined ? Number.POSITIVE_INFINITY : Math.max(...ends) - timeOf(stop);
}

describe('a tree of sessions of three levels whose process is killed', () => {
  async function goesOn(folder: string): Promise<void> {
    const { runtime } = await treeNode({ folder, node: 'c', width: WIDTH });
    const before = await treeOf(runtime);
    writeFileSync(join(folder, 'open'), '');
    const second = processes.begin({ folder, node: 'b', width: WIDTH });
    await second.exited;
    expect(second.said()).toBe('completed');
    const after = await treeOf(runtime);
    expectWhole(after);
    expectNoneRepeated(before, after);
    await runtime.dispose();
  }

  test.each(points)(
    'when %i pieces of work are logged goes on, and repeats none that had ended [P3]',
    async (lines) => {
      const folder = processes.folder();
      const first = processes.begin({ folder, node: 'a', width: WIDTH });
      await waitUntil(() => linesOf(folder).length >= lines);
      first.child.kill('SIGKILL');
      await first.exited;
      await goesOn(folder);
    },
    120_000,
  );

  test.each(births)(
    'between the two appends that make child %i goes on, and makes each once [P3]',
    async (nth) => {
      const folder = processes.folder();
      await processes.begin({ folder, node: 'a', width: WIDTH, halt: { signal: 'SIGKILL', nth } }).exited;
      expect(existsSync(join(folder, 'halted'))).toBe(true);
      await goesOn(folder);
    },
    120_000,
  );

  test.each(births)(
    'there, and then stopped, begins nothing more, at child %i [P7]',
    async (nth) => {
      const folder = processes.folder();
      await processes.begin({ folder, node: 'a', width: WIDTH, halt: { signal: 'SIGKILL', nth } }).exited;
      const { runtime, agent } = await treeNode({ folder, node: 'c', width: WIDTH });
      const session = await agent.sessions.get('s');
      await session.stop('enough');
      expectStopped(await treeOf(runtime));
      const begun = linesOf(folder).length;
      const second = processes.begin({ folder, node: 'b', width: WIDTH });
      await second.exited;
      expect(second.said()).toBe('cancelled');
      await waitUntil(async () => [...(await treeOf(runtime)).values()].every(isOver));
      expect([...(await treeOf(runtime)).values()].filter(isUnborn).length).toBeGreaterThan(0);
      expect(linesOf(folder)).toHaveLength(begun);
      await runtime.dispose();
    },
    120_000,
  );
});

describe('a tree of sessions of three levels whose process stands still', () => {
  async function endsWhenStopped(folder: string, first: ReturnType<typeof processes.begin>): Promise<void> {
    const { runtime, agent } = await besideStopped(first.child, { folder, node: 'c', width: WIDTH });
    const session = await agent.sessions.get('s');
    await session.stop('enough');
    expectStopped(await treeOf(runtime));
    first.child.kill('SIGCONT');
    await waitUntil(async () => [...(await treeOf(runtime)).values()].every(isOver));
    expect(endsOf((await treeOf(runtime)).get('s') ?? [], 'cancelled')).toBe(1);
    const begun = linesOf(folder).length;
    await first.exited;
    expect(first.said()).toBe('cancelled');
    expect(linesOf(folder)).toHaveLength(begun);
    await runtime.dispose();
  }

  test.each(points)(
    'when %i pieces of work are logged is cancelled from another: none is left [P7]',
    async (lines) => {
      const folder = processes.folder();
      const first = processes.begin({ folder, node: 'a', width: WIDTH });
      // There is nothing to cancel before there is a session.
      await waitUntil(() => linesOf(folder).length >= Math.max(1, lines));
      await endsWhenStopped(folder, first);
    },
    120_000,
  );

  test.each(births)(
    'between the two appends that make child %i is cancelled from another [P7]',
    async (nth) => {
      const folder = processes.folder();
      const first = processes.begin({ folder, node: 'a', width: WIDTH, halt: { signal: 'SIGSTOP', nth } });
      await waitUntil(() => existsSync(join(folder, 'halted')));
      await endsWhenStopped(folder, first);
    },
    120_000,
  );

  test.each(points)(
    'when %i pieces of work are logged is taken over: none is repeated by either [P3]',
    async (lines) => {
      const folder = processes.folder();
      const first = processes.begin({ folder, node: 'a', width: WIDTH });
      await waitUntil(() => linesOf(folder).length >= Math.max(1, lines));
      const { runtime } = await besideStopped(first.child, { folder, node: 'c', width: WIDTH });
      const before = await treeOf(runtime);
      writeFileSync(join(folder, 'open'), '');
      const second = processes.begin({ folder, node: 'b', width: WIDTH, takeOver: true });
      await second.exited;
      expect(second.said()).toBe('completed');
      const between = await treeOf(runtime);
      expectNoneRepeated(before, between);
      // The process that stood still finds that all of it is done.
      first.child.kill('SIGCONT');
      await first.exited;
      expect(first.said()).toBe('completed');
      const after = await treeOf(runtime);
      expectWhole(after);
      expectNoneRepeated(between, after);
      await runtime.dispose();
    },
    120_000,
  );
});

describe('a cancel at the root', () => {
  test('ends three levels, 32 wide, within a second of the facts [P7]', async () => {
    let took = Number.POSITIVE_INFINITY;
    // A machine that is busy with other things may be late, and not always.
    for (let tries = 0; tries < 3 && took > CANCEL_MS; tries++) {
      const folder = processes.folder();
      const first = processes.begin({ folder, node: 'a', width: 32, quick: 0 });
      await waitUntil(() => linesOf(folder).length === 32);
      const { runtime, agent } = await treeNode({ folder, node: 'b', width: 32 });
      await (await agent.sessions.get('s')).stop('enough');
      await first.exited;
      expect(first.said()).toBe('cancelled');
      const tree = await treeOf(runtime);
      expect([...tree.values()].filter((facts) => endsOf(facts, 'cancelled') === 1)).toHaveLength(65);
      took = Math.min(took, cancelTook(tree));
      await runtime.dispose();
    }
    console.log('TOOK', took);
    expect(took).toBeLessThanOrEqual(CANCEL_MS);
  }, 120_000);
});
