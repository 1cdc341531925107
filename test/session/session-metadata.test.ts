import { expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { deterministicHostEnv } from '@perdure/plugin-api';
import { MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';

async function clerk(tenant?: string) {
  const rows = new MemoryProjectionStore();
  const store = new MemoryEventStore();
  const env = deterministicHostEnv({ timezone: 'Europe/Lisbon', stepMs: 1 });
  const runtime = await createTestRuntime({ plugins: [storesWith(store, rows), allowing], env });
  onTestFinished(() => runtime.dispose());
  const model = new ScriptedModel({
    rules: [
      {
        when: { userTextContains: 'look', toolResults: 0 },
        answer: {
          text: 'I look.',
          calls: [{ name: 'lookup', input: { key: 'hidden treasure' }, providerCallId: 'c' }],
        },
      },
      { answer: { text: '  Found\n\nthe ÄRGER  in the log.  ' } },
    ],
  });
  const agent = runtime.agent({ id: 'clerk', model, tools: { lookup: lookupTool() }, ...(tenant && { tenant }) });
  return { rows, store, runtime, agent };
}

test('a session and its summary say the same of it', async () => {
  const { agent } = await clerk();
  await agent.sessions.create({ sessionId: 'top' });
  const session = await agent.sessions.create({ sessionId: 's', parent: 'top', workspace: '/w' });
  expect(await session.info()).toMatchObject({ title: null, titleBy: null, preview: '', modelLabel: null });
  await session.send('  Please look for the\n lost file, which I had yesterday and which is gone today, I fear.');
  const info = await session.info();
  const { items } = await agent.sessions.list({ parent: 'top' });
  const [summary] = items;
  expect(items).toHaveLength(1);
  const { title, titleBy, preview, timezone, modelLabel, parent, root, workspace, archivedAt, createdAt, updatedAt } =
    info;
  const same = { title, titleBy, preview, timezone, modelLabel, parent, root, workspace, archivedAt, createdAt };
  expect(summary).toMatchObject({ id: 's', ...same, status: 'idle' });
  expect(same).toMatchObject({
    title: 'Please look for the lost file, which I had yesterday and…',
    titleBy: 'prompt',
    preview: 'Found the ÄRGER in the log.',
    timezone: 'Europe/Lisbon',
    parent: 'top',
    root: 'top',
  });
  expect(modelLabel).not.toBeNull();
  expect(summary?.updatedAt).toBeLessThanOrEqual(updatedAt);
  // A prompt and two answers; the result of the call is a message too.
  expect([summary?.messages, info.messages]).toEqual([3, 4]);
  expect(summary?.historyBytes).toBeGreaterThan(300);
});

test('a session says its own title and time zone, and none that is nonsense', async () => {
  const { agent } = await clerk();
  const session = await agent.sessions.create({ sessionId: 's', title: ' Ärger ', timezone: 'Asia/Tokyo' });
  expect(await session.info()).toMatchObject({ title: 'Ärger', titleBy: 'host', timezone: 'Asia/Tokyo' });
  await (
    await session.set({ title: 'Another' })
  ).finished;
  expect(await session.info()).toMatchObject({ title: 'Another', titleBy: 'host' });
  await agent.sessions.get('s', { title: 'A third' });
  await session.send('hello');
  expect((await agent.sessions.list()).items[0]).toMatchObject({ title: 'A third', titleBy: 'host' });
  for (const options of [
    { title: '' },
    { title: 'x'.repeat(201) },
    { timezone: 'Nowhere' },
    { timezone: 1 as never },
  ]) {
    await expect(agent.sessions.create(options)).rejects.toMatchObject({ code: 'PERDURE_SESSION_CONFIGURATION' });
  }
  await expect(session.set({ title: ' ' })).rejects.toMatchObject({ data: { field: 'title' } });
});

test('a turn whose prompts were all taken back leaves its session idle in the list', async () => {
  const { agent } = await clerk();
  const session = await agent.sessions.create({ sessionId: 's' });
  const first = await session.prompt('hello');
  const queued = await session.prompt({ query: 'more', whenBusy: 'queue' });
  await queued.stop();
  await first.finished;
  expect((await agent.sessions.list()).items[0]).toMatchObject({ status: 'idle' });
});

test('a search finds ids, titles, previews and messages, and its index is none of the list', async () => {
  const { agent, rows, runtime } = await clerk();
  const session = await agent.sessions.create({ sessionId: 'Alpha-1', title: 'The Inquiry' });
  await session.send('hello Wörld');
  await session.send('look again');
  await agent.sessions.create({ sessionId: 'beta' });
  await agent.sessions.list();
  expect(await rows.checkpoint('session-text@1')).toBeUndefined();
  const found = async (query: string) =>
    (await agent.sessions.search(query)).items.map(({ id, found: { in: where, excerpt } }) => [id, where, excerpt]);
  expect(await found('ALPHA')).toEqual([['Alpha-1', 'id', 'Alpha-1']]);
  expect(await found('inquiry')).toEqual([['Alpha-1', 'title', 'The Inquiry']]);
  expect(await found('ärger')).toEqual([['Alpha-1', 'preview', 'Found the ÄRGER in the log.']]);
  expect(await found('WÖRLD')).toEqual([['Alpha-1', 'message', 'hello Wörld']]);
  // Arguments of calls and outputs of tools are not searched.
  expect(await found('treasure')).toEqual([]);
  expect((await agent.sessions.list({ query: 'BET' })).items.map(({ id }) => id)).toEqual(['beta']);
  expect((await agent.sessions.list({ query: 'wörld' })).items).toEqual([]);
  expect((await runtime.searchSessions('a', { limit: 1 })).total).toBe(2);
  await agent.sessions.archive('Alpha-1');
  expect(await found('wörld')).toEqual([]);
  expect((await agent.sessions.search('wörld', { archived: true })).items).toHaveLength(1);
  await expect(agent.sessions.search('')).rejects.toMatchObject({ data: { field: 'query' } });
});

test('a tenant finds its own sessions only', async () => {
  const { agent, runtime } = await clerk('acme');
  const other = runtime.agent({ id: 'other', tenant: 'globex', model: new ScriptedModel([{ text: 'well' }]) });
  await (await agent.sessions.create({ sessionId: 's' })).send('the plan');
  await (await other.sessions.create({ sessionId: 's' })).send('the plan');
  expect((await agent.sessions.search('the plan')).items).toMatchObject([{ tenant: 'acme' }]);
  expect((await runtime.searchSessions('plan', {}, { tenant: 'globex' })).items).toMatchObject([{ tenant: 'globex' }]);
  expect((await runtime.searchSessions('plan')).total).toBe(2);
});
