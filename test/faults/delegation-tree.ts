import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RecordedFact } from '@perdure/events';
import type { PerdureRuntime } from '@perdure/core';
import { isPerdureError } from '@perdure/plugin-api';
import { bundle } from '../fixtures/bundle.js';
import { treeNode, type TreeOrder } from './delegation-node.fixture.js';

export interface TreeProcess {
  readonly child: ChildProcess;
  readonly said: () => string;
  readonly exited: Promise<unknown>;
}

/** Processes that work on trees of sessions, each tree in a folder of its own. */
export class TreeProcesses {
  private readonly root = mkdtempSync(join(tmpdir(), 'perdure-delegation-'));
  private readonly processes: ChildProcess[] = [];
  private program = '';

  async prepare(): Promise<void> {
    this.program = await bundle(new URL('delegation-node.fixture.ts', import.meta.url));
  }

  end(): void {
    for (const child of this.processes) child.kill('SIGKILL');
    rmSync(this.root, { recursive: true, force: true });
  }

  folder(): string {
    return mkdtempSync(join(this.root, 'tree-'));
  }

  begin(order: TreeOrder): TreeProcess {
    const env = { ...process.env, NODE_OPTIONS: '' };
    const argument = JSON.stringify(order);
    const child = spawn(process.execPath, [this.program, argument], { stdio: ['ignore', 'pipe', 'inherit'], env });
    this.processes.push(child);
    let out = '';
    child.stdout.on('data', (data: Buffer) => (out += data.toString()));
    return { child, said: () => out.trim(), exited: once(child, 'exit') };
  }
}

/** What the tools of a tree have logged. */
export function linesOf(folder: string): readonly string[] {
  const log = join(folder, 'log');
  return existsSync(log) ? readFileSync(log, 'utf8').split('\n').slice(0, -1) : [];
}

export type Tree = ReadonlyMap<string, readonly RecordedFact[]>;

/** The facts of the root and of all below it, by the ids of the sessions. */
export async function treeOf({ services: { store } }: PerdureRuntime): Promise<Tree> {
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

export function count(facts: readonly RecordedFact[], type: string): number {
  return facts.filter((fact) => fact.type === type).length;
}

/** Runs of a session that ended so. */
export function endsOf(facts: readonly RecordedFact[], status: string): number {
  return facts.filter(
    ({ type, payload }) => type === 'RunEnded' && (JSON.parse(payload) as { status: string }).status === status,
  ).length;
}

/** Whether a session's work has ended, or was stopped before it began. */
export function isOver(facts: readonly RecordedFact[]): boolean {
  return endsOf(facts, 'completed') + endsOf(facts, 'cancelled') > 0 || isTakenBack(facts) || isUnborn(facts);
}

/** Whether a session's work was taken back: it had come, and nobody had begun it. */
export function isTakenBack(facts: readonly RecordedFact[]): boolean {
  return count(facts, 'PromptCancelled') > 0 && count(facts, 'RunStarted') === 0;
}

/** Whether a session's work was stopped before it came. */
export function isUnborn(facts: readonly RecordedFact[]): boolean {
  return facts[1]?.type === 'StopRequested' && count(facts, 'PromptAccepted') === 0;
}

/**
 * Opens a node beside a process that stands still. One that stands in the middle of a commit locks the store for all:
 * it goes on and is stopped again.
 */
export async function besideStopped(child: ChildProcess, order: TreeOrder) {
  for (;;) {
    child.kill('SIGSTOP');
    try {
      return await treeNode(order);
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_PLUGIN_FAILED')) throw error;
      child.kill('SIGCONT');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
