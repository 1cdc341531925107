import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RecordedFact } from '@perdure/events';
import type { PerdureRuntime } from '@perdure/core';
import { isPerdureError } from '@perdure/plugin-api';
import { bundle } from '../fixtures/bundle.js';
import { waitUntil } from '../fixtures/wait-until.js';
import { treeNode } from './delegation-node.fixture.js';

/** How wide the tree is, and at how many points of its work a process dies. */
const WIDTH = Number(process.env['PERDURE_DELEGATION_WIDTH'] ?? 4);
const POINTS = Number(process.env['PERDURE_DELEGATION_POINTS'] ?? 2);

let program = '';
beforeAll(async () => {
  program = await bundle(new URL('delegation-node.fixture.ts', import.meta.url));
});
const root = mkdtempSync(join(tmpdir(), 'perdure-delegation-'));
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill('SIGKILL');
  rmSync(root, { recursive: true, force: true });
});

function begin(folder: string, node: string): { readonly child: ChildProcess; readonly said: () => string } {
  const order = JSON.stringify({ folder, node, width: WIDTH });
  const env = { ...process.env, NODE_OPTIONS: '' };
  const child = spawn(process.execPath, [program, order], { stdio: ['ignore', 'pipe', 'inherit'], env });
  children.push(child);
  let out = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  return { child, said: () => out.trim() };
}

function linesOf(folder: string): readonly string[] {
  const log = join(folder, 'log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
}

/** The facts of the root and of all below it, by the ids of the sessions. */
async function treeOf({ services: { store } }: PerdureRuntime): Promise<ReadonlyMap<string, readonly RecordedFact[]>> {
  const tree = new Map<string, readonly RecordedFact[]>();
  const ids = ['s'];
  for (const id of ids) {
    const { facts } = await store.read(`session-_.${id}`);
    tree.set(id, facts);
    for (const { type, payload } of facts) {
      if (type === 'ChildStarted') ids.push((JSON.parse(payload) as { childId: string }).childId);
    }
  }
  return tree;
}

const count = (facts: readonly RecordedFact[], type: string): number =>
  facts.filter((fact) => fact.type === type).length;
const endsOf = (facts: readonly RecordedFact[], status: string): number =>
  facts.filter(
    ({ type, payload }) => type === 'RunEnded' && (JSON.parse(payload) as { status: string }).status === status,
  ).length;

/** A process that stands still in the middle of a commit locks the store for all: it goes on and is stopped again. */
async function besideStopped<Result>(child: ChildProcess, open: () => Promise<Result>): Promise<Result> {
  for (;;) {
    child.kill('SIGSTOP');
    try {
      return await open();
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_PLUGIN_FAILED')) throw error;
      child.kill('SIGCONT');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

describe('a tree of sessions of three levels', () => {
  const points = Array.from({ length: POINTS }, (_, index) =>
    Math.floor((index * WIDTH * 1.5) / Math.max(1, POINTS - 1)),
  );

  test.each(points)(
    'whose process is killed after %i pieces of work are logged goes on, and repeats none that had ended [P3]',
    { timeout: 120_000 },
    async (lines) => {
      const folder = mkdtempSync(join(root, 'kill-'));
      const first = begin(folder, 'a');
      await waitUntil(() => existsSync(join(folder, 'perdure.db')) && linesOf(folder).length >= lines);
      first.child.kill('SIGKILL');
      await once(first.child, 'exit');
      const { runtime } = await treeNode({ folder, node: 'c', width: WIDTH });
      const before = await treeOf(runtime);
      const ended = [...before].filter(([, facts]) => endsOf(facts, 'completed') > 0);
      writeFileSync(join(folder, 'open'), '');
      const second = begin(folder, 'b');
      await once(second.child, 'exit');
      expect(second.said()).toBe('completed');
      const after = await treeOf(runtime);
      expect(after.size).toBe(1 + 2 * WIDTH);
      for (const [id, facts] of after) {
        expect([id, count(facts, 'SessionCreated'), count(facts, 'PromptAccepted')]).toEqual([id, 1, 1]);
        expect([id, endsOf(facts, 'completed')]).toEqual([id, 1]);
        expect(count(facts, 'ChildEnded')).toBe(count(facts, 'ChildStarted'));
      }
      for (const [id, facts] of ended) {
        const later =
          after
            .get(id)
            ?.slice(facts.length)
            .map(({ type }) => type) ?? [];
        expect(later.filter((type) => type !== 'OwnershipReleased')).toEqual([]);
      }
      await runtime.dispose();
    },
  );

  test(
    'whose process stands still is cancelled from another one: none is left at work [P7]',
    { timeout: 120_000 },
    async () => {
      const folder = mkdtempSync(join(root, 'stop-'));
      const first = begin(folder, 'a');
      await waitUntil(() => linesOf(folder).filter((line) => line.startsWith('begun')).length === WIDTH);
      const { runtime, agent } = await besideStopped(first.child, () => treeNode({ folder, node: 'b', width: WIDTH }));
      const session = await agent.sessions.get('s');
      await session.stop('enough');
      // When the stop is told, it is a fact in every session that has not ended.
      for (const [id, facts] of await treeOf(runtime)) {
        const isOver = endsOf(facts, 'completed') > 0 || count(facts, 'StopRequested') > 0;
        expect([id, isOver]).toEqual([id, true]);
      }
      first.child.kill('SIGCONT');
      await waitUntil(async () => {
        const tree = await treeOf(runtime);
        return [...tree.values()].every((facts) => endsOf(facts, 'completed') + endsOf(facts, 'cancelled') > 0);
      });
      const tree = await treeOf(runtime);
      expect(endsOf(tree.get('s') ?? [], 'cancelled')).toBe(1);
      const begun = linesOf(folder).length;
      first.child.kill('SIGKILL');
      await once(first.child, 'exit').catch(() => undefined);
      expect(linesOf(folder)).toHaveLength(begun);
      await runtime.dispose();
    },
  );
});
