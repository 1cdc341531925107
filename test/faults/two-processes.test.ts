import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { verifySession } from '@perdure/core';
import type { RecordedFact } from '@perdure/events';
import { isPerdureError, type TurnResult } from '@perdure/plugin-api';
import { forkNode, type ForkedNode } from '../fixtures/forked-node.js';
import { KILLED_TTL_MS, seesDeathAtOnce, whenDead } from '../fixtures/killed-owner.js';
import { startNode, type NodeOrder, type NodeRequest } from './node.fixture.js';

const fixture = new URL('node.fixture.ts', import.meta.url);
const root = mkdtempSync(join(tmpdir(), 'perdure-two-'));
const children = new Set<ChildProcess>();
const runtimes: { dispose(): Promise<void> }[] = [];
afterEach(async () => {
  for (const runtime of runtimes.splice(0)) await runtime.dispose();
  for (const child of children) child.kill('SIGKILL');
  children.clear();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A node in a process of its own. */
async function otherNode(order: NodeOrder): Promise<ForkedNode<NodeRequest>> {
  const node = await forkNode<NodeRequest>(fixture, order);
  children.add(node.child);
  return node;
}

async function thisNode(order: NodeOrder) {
  const node = await startNode(order);
  runtimes.push(node.runtime);
  const store = node.runtime.services.store;
  const facts = async (): Promise<readonly RecordedFact[]> => (await store.read('session-_.s')).facts;
  return { ...node, facts, verify: () => verifySession(store, { id: 's' }) };
}

const place = (): string => mkdtempSync(join(root, 'run-'));
const startsOf = (folder: string): string[] =>
  existsSync(join(folder, 'starts')) ? readFileSync(join(folder, 'starts'), 'utf8').trim().split('\n') : [];
const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 10));
};
const count = (facts: readonly RecordedFact[], type: string): number =>
  facts.filter((fact) => fact.type === type).length;
const lastRun = (facts: readonly RecordedFact[]): string =>
  JSON.parse(facts.findLast(({ type }) => type === 'RunStarted')?.payload ?? '{}').runId;

describe('two processes with one session in one store [P4]', () => {
  const when = seesDeathAtOnce ? 'at once, long before its lease would run out' : 'when its lease has run out';
  test(`a killed owner is replaced ${when}`, async () => {
    const folder = place();
    const a = await otherNode({ folder, nodeId: 'a', leaseTtlMs: KILLED_TTL_MS });
    await a.ask({ do: 'prompt', queries: ['wait for it'], whenBusy: 'steer', wait: false });
    await until(() => startsOf(folder).length === 1);
    const b = await thisNode({ folder, nodeId: 'b', leaseTtlMs: 600_000 });
    const session = await b.agent.sessions.get('s');
    const runId = lastRun(await b.facts());
    await expect(session.resumeRun(runId)).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_SESSION_OWNED') && error.data['node'] === 'a',
    );
    a.child.kill('SIGKILL');
    await new Promise((resolve) => a.child.once('exit', resolve));
    expect(await whenDead('a', () => session.resumeRun(runId))).toMatchObject({ status: 'completed' });
    const facts = await b.facts();
    const settled = facts
      .filter(({ type }) => type === 'ToolCallSettled')
      .map(({ payload }) => JSON.parse(payload).status);
    expect(settled).toEqual(['unknown']);
    expect(startsOf(folder)).toEqual(['a']);
    await b.verify();
  });

  test('a frozen owner is replaced after its time to live; when it wakes it neither starts nor appends', async () => {
    const folder = place();
    const a = await otherNode({ folder, nodeId: 'a', leaseTtlMs: 600, freezeAfterStart: true });
    const ended = a.ask<TurnResult[]>({ do: 'prompt', queries: ['wait for it'], whenBusy: 'steer', wait: true });
    const b = await thisNode({ folder, nodeId: 'b', leaseTtlMs: 600 });
    await until(async () => count(await b.facts(), 'ToolCallStarted') === 1);
    const session = await b.agent.sessions.get('s');
    const runId = lastRun(await b.facts());
    let result: TurnResult | undefined;
    while (result === undefined) {
      try {
        result = await session.resumeRun(runId);
      } catch (error) {
        if (!isPerdureError(error, 'PERDURE_SESSION_OWNED')) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    expect(result.status).toBe('completed');
    a.child.kill('SIGCONT');
    // The old owner follows the turn to the end that the new one gave it.
    expect((await ended)[0]).toMatchObject({ status: 'completed' });
    expect(startsOf(folder)).toEqual([]);
    const facts = await b.facts();
    const epochs = facts.map(({ metadata }) => JSON.parse(metadata).epoch as number);
    expect(epochs).toEqual([...epochs].sort((x, y) => x - y));
    const taken = facts.find(({ type, metadata }) => type === 'OwnershipTaken' && JSON.parse(metadata).epoch === 2);
    const started = facts.find(({ type }) => type === 'ToolCallStarted');
    // It may have renewed its lease a third of the time before it was frozen, at most.
    const timeOf = (fact: typeof taken): number => JSON.parse(fact?.metadata ?? '{}').time as number;
    expect(timeOf(taken) - timeOf(started)).toBeGreaterThan(300);
    expect(epochs.at(-1)).toBe(2);
    await b.verify();
  });

  test('inputs of both are all kept, each in the order of its process, and all answered', async () => {
    const folder = place();
    const a = await otherNode({ folder, nodeId: 'a', leaseTtlMs: 5_000 });
    const b = await thisNode({ folder, nodeId: 'b', leaseTtlMs: 5_000 });
    const session = b.agent.session('', { sessionId: 's' });
    const queries = (node: string) => Array.from({ length: 25 }, (_, index) => `${node} ${index}`);
    const theirs = a.ask<TurnResult[]>({ do: 'prompt', queries: queries('a'), whenBusy: 'queue', wait: true });
    const mine = [];
    for (const query of queries('b')) mine.push(await session.prompt({ query, whenBusy: 'queue' }));
    const results = [...(await theirs), ...(await Promise.all(mine.map(({ finished }) => finished)))];
    expect(results.map(({ status }) => status)).toEqual(Array(50).fill('completed'));
    const texts = (await b.facts())
      .filter(({ type }) => type === 'PromptAccepted')
      .map(({ payload }) => String(JSON.parse(payload).parts[0].text));
    expect(texts.filter((text) => text.startsWith('a'))).toEqual(queries('a'));
    expect(texts.filter((text) => text.startsWith('b'))).toEqual(queries('b'));
    await b.verify();
  });

  test('a steer that races the end of a run is answered, and a stop that races a call starts nothing', async () => {
    const folder = place();
    writeFileSync(join(folder, 'go'), '');
    const a = await otherNode({ folder, nodeId: 'a', leaseTtlMs: 5_000 });
    const b = await thisNode({ folder, nodeId: 'b', leaseTtlMs: 5_000 });
    const session = b.agent.session('', { sessionId: 's' });
    for (let round = 0; round < 15; round++) {
      const theirs = a.ask<TurnResult[]>({ do: 'prompt', queries: [`one ${round}`], whenBusy: 'steer', wait: true });
      await new Promise((resolve) => setTimeout(resolve, round));
      const steer = await session.prompt('and this');
      expect((await steer.finished).status).toBe('completed');
      expect((await theirs)[0]?.status).toBe('completed');
    }
    for (let round = 0; round < 15; round++) {
      const theirs = a.ask<TurnResult[]>({ do: 'prompt', queries: [`wait ${round}`], whenBusy: 'steer', wait: true });
      await new Promise((resolve) => setTimeout(resolve, round));
      await session.stop();
      await theirs;
    }
    const facts = await b.facts();
    const stopped = new Map<string, number>();
    for (const fact of facts) {
      if (fact.type === 'StopRequested') stopped.set(JSON.parse(fact.payload).turnId, fact.revision);
      if (fact.type !== 'ToolCallStarted') continue;
      const at = stopped.get(JSON.parse(fact.metadata).turnId);
      expect(at === undefined || fact.revision < at).toBe(true);
    }
    expect(startsOf(folder).length).toBe(count(facts, 'ToolCallStarted'));
    await b.verify();
  });

  test('32 resumes of one run from two processes make one new run', async () => {
    const folder = place();
    const dead = await otherNode({ folder, nodeId: 'dead', leaseTtlMs: KILLED_TTL_MS });
    await dead.ask({ do: 'prompt', queries: ['wait for it'], whenBusy: 'steer', wait: false });
    await until(() => startsOf(folder).length === 1);
    dead.child.kill('SIGKILL');
    await new Promise((resolve) => dead.child.once('exit', resolve));
    const [a, b] = await Promise.all([
      otherNode({ folder, nodeId: 'a', leaseTtlMs: 5_000 }),
      thisNode({ folder, nodeId: 'b', leaseTtlMs: 5_000 }),
    ]);
    const session = await b.agent.sessions.get('s');
    const runId = lastRun(await b.facts());
    const theirs = a.ask<TurnResult[]>({ do: 'resume', runId, times: 16, dead: 'dead' });
    const mine = Array.from({ length: 16 }, () => whenDead('dead', () => session.resumeRun(runId)));
    const results = (await Promise.all([theirs, Promise.all(mine)])).flat();
    expect(results).toHaveLength(32);
    expect(new Set(results.map((result) => result.runId)).size).toBe(1);
    expect(results.every(({ status }) => status === 'completed')).toBe(true);
    expect(count(await b.facts(), 'RunStarted')).toBe(2);
  });
});
