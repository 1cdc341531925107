import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { DECIDER_VERSION } from '@perdure/core/testing';
import { verifySession, type ReplayReport } from '@perdure/core';
import { sealMetadata, type PayloadOf, type RecordedFact } from '@perdure/events';
import { createPermissionPolicy, type PermissionRules } from '@perdure/policy-permission';
import { hash } from 'node:crypto';
import { MemoryEventStore } from '@perdure/store-memory';
import { blocks, record, startAgent, type Variant } from './session.fixture.js';

const run = promisify(execFile);
const fixture = fileURLToPath(new URL('record.fixture.ts', import.meta.url));
const sha256 = (text: string): string => hash('sha256', text, 'hex');

async function recordInProcess(): Promise<string> {
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--conditions=@perdure/source', fixture]);
  return stdout;
}

/** The same facts in a store, one of them changed and every hash behind it made anew. */
async function rebuilt(
  facts: readonly RecordedFact[],
  change: (fact: RecordedFact) => string,
): Promise<MemoryEventStore> {
  const store = new MemoryEventStore();
  let prevHash = '0'.repeat(64);
  for (const fact of facts) {
    const payload = change(fact);
    const head = fact.metadata.slice(0, fact.metadata.indexOf(',"prevHash"'));
    const sealed = sealMetadata({ id: fact.id, type: fact.type, payload, head }, prevHash, sha256);
    prevHash = sealed.hash;
    const expected = fact.revision === 0 ? ('none' as const) : fact.revision - 1;
    await store.append(fact.stream, [{ id: fact.id, type: fact.type, payload, metadata: sealed.metadata }], {
      expected,
    });
  }
  return store;
}

async function replay(store: MemoryEventStore, variant?: Variant): Promise<ReplayReport> {
  const { runtime, agent } = await startAgent(store, variant);
  const report = await agent.replay('s');
  await runtime.dispose();
  return report;
}

/** The position belongs to the store: drafts of other streams stand between the facts of a slow run. */
function withoutPosition(line: string): Omit<RecordedFact, 'position'> {
  const { position: _, ...fact } = JSON.parse(line) as RecordedFact;
  return fact;
}

describe('the same work in the same host environment [P12] [A6]', () => {
  test('leaves the same stream, byte for byte, in two processes, whichever of two calls was quicker', async () => {
    const recorded = await Promise.all([recordInProcess(), recordInProcess(), recordInProcess()]);
    const [first, second, third] = recorded.map((text) => text.trim().split('\n').map(withoutPosition));
    expect(first?.length).toBeGreaterThan(30);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
  });
});

describe('replay [P12]', () => {
  test('of an untouched session derives every fact again', async () => {
    const store = new MemoryEventStore();
    const facts = await record(store);
    const report = await replay(store);
    expect(report.difference).toBeUndefined();
    expect(report.drift).toEqual([]);
    expect(report.derived + report.inputs).toBe(facts.length);
    expect(report.derived).toBeGreaterThan(15);
  });

  test.each<[string, string, (payload: Record<string, unknown>) => Record<string, unknown>, string]>([
    ['a decision', 'ToolCallDecided', (payload) => ({ ...payload, decision: 'deny' }), 'decision'],
    ['an idempotency key', 'ToolCallStarted', (payload) => ({ ...payload, idempotencyKey: 'other' }), 'idempotencyKey'],
    ['usage', 'StepCheckpointed', (payload) => ({ ...payload, index: 9 }), 'index'],
    ['the end of a run', 'RunEnded', (payload) => ({ ...payload, steps: 99 }), 'steps'],
    ['a view', 'StepStarted', (payload) => ({ ...payload, index: 7 }), 'index'],
  ])('names %s that was changed, although the chain was made anew behind it', async (_, type, change, path) => {
    const facts = await record();
    const target = facts.find((fact) => fact.type === type);
    const store = await rebuilt(facts, (fact) =>
      fact === target ? JSON.stringify(change(JSON.parse(fact.payload) as Record<string, unknown>)) : fact.payload,
    );
    expect((await verifySession(store, { id: 's' })).facts).toBe(facts.length);
    expect((await replay(store)).difference).toMatchObject({ revision: target?.revision, type, path });
  });

  // Blocks stand in the order of their names, whatever the order in which plugins were loaded.
  const names = blocks.map(({ name }) => name).reverse();
  const reordered = blocks.map((source, index) => ({ ...source, name: names[index] ?? source.name }));

  test.each<[string, Variant, string, RegExp]>([
    ['reordered system blocks', { blocks: reordered }, 'StepStarted', /^(setup|view)/],
    ['a changed permission rule', { allow: ['peek', 'put', 'forbidden'] }, 'StepStarted', /^setup/],
    ['a changed tool schema', { description: 'Look closer.' }, 'StepStarted', /^(setup|view)/],
  ])('names the first fact that %s would have made another', async (_, variant, type, path) => {
    const store = new MemoryEventStore();
    const facts = await record(store);
    expect((await verifySession(store, { id: 's' })).facts).toBe(facts.length);
    const { difference } = await replay(store, variant);
    expect(difference?.type).toBe(type);
    expect(difference?.path).toMatch(path);
  });
});

test('turns that ran under different rules are each compared with their own', async () => {
  const store = new MemoryEventStore();
  const first = await startAgent(store);
  await (await first.agent.sessions.create({ sessionId: 's' })).send('do it');
  await first.runtime.dispose();
  const second = await startAgent(store, { allow: ['put'] });
  await (await second.agent.sessions.get('s')).send('again');
  expect((await second.agent.replay('s')).difference).toMatchObject({ type: 'StepStarted', path: 'setup.policy' });
  const setups = (await store.read('session-_.s')).facts
    .filter(({ type }) => type === 'StepStarted')
    .flatMap(({ payload }) => (JSON.parse(payload) as PayloadOf<'StepStarted'>).setup ?? []);
  expect(setups.map(({ rules }) => rules)).toMatchObject([{ allow: ['peek', 'put'] }, { allow: ['put'] }]);
  const recorded = setups.map(({ rules }) => ({ permission: createPermissionPolicy(rules as PermissionRules) }));
  expect((await second.agent.replay('s', recorded)).difference).toBeUndefined();
  expect((await second.agent.replay('s', recorded.slice(1))).difference).toMatchObject({ path: 'setup.policy' });
  await second.runtime.dispose();
});

describe('recorded histories', () => {
  const folder = fileURLToPath(new URL('histories', import.meta.url));
  test.each(
    readdirSync(folder, { recursive: true })
      .filter((file) => String(file).endsWith('.jsonl'))
      .map(String),
  )('%s still replays', async (file) => {
    const lines = readFileSync(`${folder}/${file}`, 'utf8').trim().split('\n');
    const store = await rebuilt(
      lines.map((line) => JSON.parse(line) as RecordedFact),
      (fact) => fact.payload,
    );
    const report = await replay(store);
    expect(report.difference).toBeUndefined();
    expect(report.facts).toBe(lines.length);
    // What another decider made is folded and not compared, and the report says so.
    const made = Number(/decider-(\d+)/.exec(file)?.[1]);
    const drifted = new Set(report.drift.map(({ deciderVersion }) => deciderVersion));
    expect([...drifted]).toEqual(made === DECIDER_VERSION ? [] : [made]);
    if (made === DECIDER_VERSION) expect(report.derived).toBeGreaterThan(10);
  });

  test('there is one of the decider that runs', () => {
    expect(readdirSync(folder, { recursive: true }).map(String)).toContain(`0.1.0/decider-${DECIDER_VERSION}.jsonl`);
  });
});
