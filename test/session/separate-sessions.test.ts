import { expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { Mutation, Session } from '@perdure/plugin-api';
import { storeMemory } from '@perdure/store-memory';
import { storeSqlite } from '@perdure/store-sqlite';
import { ScriptedModel } from '@perdure/testing';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allowing, lookupTool } from '../fixtures/agents.js';
import { governedBy } from '../fixtures/governed-by.js';
import { waitUntil } from '../fixtures/wait-until.js';

/** Pays when it is told to, and says who it is. */
const payer = (name: string): ScriptedModel =>
  new ScriptedModel(({ toolResultsSince, lastUserText }) => {
    const pays = lastUserText === 'pay' && toolResultsSince.length === 0;
    return pays ? { calls: [{ name: 'pay', input: { key: 'x' } }] } : { text: `by ${name}` };
  });

const texts = async (session: Session): Promise<readonly string[]> =>
  (await session.messages()).items.flatMap(({ parts }) =>
    parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])),
  );
const system = async (session: Session): Promise<string> =>
  (await session.system()).map(({ content }) => content).join('\n');

test('a session has all that it is made of for itself, and nothing of one reaches another [R1]', async () => {
  const runtime = await createTestRuntime({ plugins: [storeMemory, governedBy(() => ({ decision: 'ask' }), {})] });
  onTestFinished(() => runtime.dispose());
  const runs: string[] = [];
  const agent = runtime.agent({
    id: 'clerk',
    model: 'first',
    models: { first: payer('first'), second: payer('second') },
    instruction: 'One.',
    tools: { pay: lookupTool(runs, 'once') },
  });
  const a = await agent.sessions.create({ sessionId: 'a', principal: 'ada', title: 'Payments' });
  const b = await agent.sessions.create({ sessionId: 'b', principal: 'ben' });
  const told: Mutation[] = [];
  b.subscribe((mutation) => told.push(mutation));
  for (const change of [await a.set({ model: 'second' }), await a.snapshot()]) await change.finished;
  agent.setInstruction('Two.');
  const paying = await a.prompt('pay');
  const later = await a.prompt({ query: 'and then', whenBusy: 'queue' });
  await waitUntil(async () => (await a.interactions()).length === 1);

  // While the one waits for a person and has a prompt in its queue, the other is free and knows of nothing.
  expect(await b.interactions()).toEqual([]);
  expect(await b.send('hello')).toMatchObject({ success: true, text: 'by first' });
  expect(await texts(b)).toEqual(['hello', 'by first']);
  expect([await a.info(), await b.info()]).toMatchObject([
    { id: 'a', model: 'second', title: 'Payments', messages: 3, turn: { status: 'running' } },
    { id: 'b', model: null, title: 'hello', messages: 2, turn: null },
  ]);
  expect([a.principal, b.principal]).toEqual(['ada', 'ben']);
  expect(await system(a)).toContain('One.');
  expect(await system(b)).toContain('Two.');
  const [asked] = await a.interactions();
  const response = { id: asked?.id ?? '', decision: 'allow' as const, by: 'ada' };
  await expect(b.respond(response)).rejects.toMatchObject({ code: 'PERDURE_INTERACTION_NOT_FOUND' });
  expect(runs).toEqual([]);

  await a.respond(response);
  expect([(await paying.finished).text, (await later.finished).text]).toEqual(['by second', 'by second']);
  expect(runs).toEqual(['x']);
  expect(await texts(b)).toEqual(['hello', 'by first']);
  const { cursor } = await b.info();
  await waitUntil(() => told.at(-1)?.cursor === cursor);
  expect(new Set(told.map(({ sessionId }) => sessionId))).toEqual(new Set(['b']));
  expect(JSON.stringify(told)).not.toContain('pay');
});

test('what a session says of itself is the same in whatever it is stored [R20]', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-told-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const said = await Promise.all(
    [storeMemory, { plugin: storeSqlite, config: { path: join(folder, 'perdure.db') } }].map(async (store) => {
      let ids = 0;
      const env = {
        idGenerator: { next: () => `id-${++ids}` },
        clock: { now: () => 1_000 },
        random: () => 0.5,
        nodeId: 'n',
      };
      const runtime = await createTestRuntime({ plugins: [store, allowing], env });
      const tools = { pay: lookupTool() };
      const agent = runtime.agent({ id: 'clerk', model: payer('it'), instruction: 'Count.', tools });
      const session = await agent.sessions.create({ sessionId: 's', timezone: 'UTC' });
      await session.send('pay');
      // The hash is over facts that name the plugins, and so the store.
      const { hash: _, ...info } = await session.info();
      const told = [info, await session.messages(), await session.system()];
      await runtime.dispose();
      return told;
    }),
  );
  expect(said[0]?.[1]).toMatchObject({ total: 4 });
  expect(said[1]).toEqual(said[0]);
});
