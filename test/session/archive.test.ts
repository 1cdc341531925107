import { join } from 'node:path';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { Session } from '@perdure/plugin-api';
import { MemoryEventStore } from '@perdure/store-memory';
import { storeSqlite } from '@perdure/store-sqlite';
import { ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { gatedModel } from '../fixtures/gated-model.js';

const ARCHIVED = expect.objectContaining({ code: 'PERDURE_SESSION_ARCHIVED' }) as unknown;

async function clerk(store = new MemoryEventStore()) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing] });
  onTestFinished(() => runtime.dispose());
  const model = new ScriptedModel([{ text: 'well' }, { text: 'again' }, { text: 'and again' }]);
  const agent = runtime.agent({ id: 'clerk', model, models: { other: model }, tools: { lookup: lookupTool() } });
  return { store, runtime, agent };
}

const idsOf = ({ items }: { readonly items: readonly { readonly id: string }[] }) => items.map(({ id }) => id);

describe('an archived session', () => {
  const refused: Readonly<Record<string, (session: Session) => Promise<unknown>>> = {
    prompt: (session) => session.prompt('more'),
    send: (session) => session.send('more'),
    stream: async (session) => {
      for await (const _ of session.stream('more'));
    },
    'a command': (session) => session.send('/help'),
    'set model': (session) => session.set({ model: 'other' }),
    'set title': (session) => session.set({ title: 'other' }),
    compact: (session) => session.compact(),
    snapshot: (session) => session.snapshot(),
    resume: (session) => session.resume(),
    resumeRun: async (session) => session.resumeRun((await session.runs())[0]?.id ?? ''),
    'a call of the host': (session) => session.tool('lookup', { key: 'a' }),
    'a governed call': (session) => session.governedTool('lookup', { key: 'a' }),
  };

  test.each(Object.keys(refused))('refuses %s with a typed error and stores nothing of it [P20]', async (name) => {
    const { agent } = await clerk();
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.send('hello');
    await agent.sessions.archive('s');
    const { revision } = await session.info();
    await expect(refused[name]?.(session)).rejects.toEqual(ARCHIVED);
    expect((await session.info()).revision).toBe(revision);
    await agent.sessions.restore('s');
    await refused[name]?.(session);
  });

  test('can be read, and says since when it is away', async () => {
    const { agent } = await clerk();
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.send('hello');
    await agent.sessions.archive('s', 'done');
    const { archivedAt } = await session.info();
    expect(archivedAt).toBeGreaterThan(0);
    expect((await session.messages()).total).toBe(2);
    await expect(agent.sessions.archive('s')).rejects.toMatchObject({
      code: 'PERDURE_SESSION_ARCHIVED',
      data: { at: archivedAt },
    });
    await agent.sessions.restore('s');
    expect((await session.info()).archivedAt).toBeNull();
    await expect(agent.sessions.restore('s')).rejects.toMatchObject({ code: 'PERDURE_SESSION_NOT_ARCHIVED' });
    await expect(agent.sessions.archive('none')).rejects.toMatchObject({ code: 'PERDURE_SESSION_NOT_FOUND' });
    await expect(agent.sessions.restore('none')).rejects.toMatchObject({ code: 'PERDURE_SESSION_NOT_FOUND' });
  });

  test('gives the turn of a prompt that it had accepted', async () => {
    const { agent } = await clerk();
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt({ query: 'hello', promptId: 'p' });
    await turn.finished;
    await agent.sessions.archive('s');
    expect(await session.prompt({ query: 'hello', promptId: 'p' })).toMatchObject({ id: turn.id, replayed: true });
  });

  test('is left out of lists, and is in that of the archived ones', async () => {
    const { agent, runtime } = await clerk();
    for (const sessionId of ['a', 'b']) await (await agent.sessions.create({ sessionId })).send('hello');
    await agent.sessions.archive('a');
    expect(idsOf(await agent.sessions.list())).toEqual(['b']);
    const archived = await agent.sessions.list({ archived: true });
    expect(archived).toMatchObject({ items: [{ id: 'a', archivedAt: expect.any(Number) as number }], total: 1 });
    expect(idsOf(await runtime.sessions({ archived: true }))).toEqual(['a']);
    await agent.sessions.restore('a');
    expect(idsOf(await agent.sessions.list()).sort()).toEqual(['a', 'b']);
  });
});

describe('archiving', () => {
  test('is refused while a turn runs, and while a change waits', async () => {
    const { runtime } = await clerk();
    const { model, release } = gatedModel([{ text: 'well' }]);
    const agent = runtime.agent({ id: 'slow', model });
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('hello');
    await expect(agent.sessions.archive('s')).rejects.toMatchObject({
      code: 'PERDURE_SESSION_BUSY',
      data: { session: 's', turn: turn.id },
    });
    release();
    await turn.finished;
    await agent.sessions.archive('s');
  });

  test('works for a session that nobody has loaded, and for one that another node owns', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'perdure-archive-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const nodes = await Promise.all(
      [1, 2].map(async () => {
        const runtime = await createTestRuntime({
          plugins: [{ plugin: storeSqlite, config: { path: join(folder, 'store.db') } }, allowing],
        });
        onTestFinished(() => runtime.dispose());
        return runtime.agent({ id: 'clerk', model: new ScriptedModel([{ text: 'well' }, { text: 'again' }]) });
      }),
    );
    const [here, there] = nodes as [(typeof nodes)[0], (typeof nodes)[0]];
    const session = await here.sessions.create({ sessionId: 's' });
    await session.send('hello');
    expect((await session.info()).owner).not.toBeNull();
    await there.sessions.archive('s');
    // The owner finds out with the next thing that it is asked for.
    await expect(session.send('more')).rejects.toEqual(ARCHIVED);
    await session.close();
    await there.sessions.restore('s');
    await there.sessions.archive('s');
    await expect((await here.sessions.get('s')).resume()).rejects.toEqual(ARCHIVED);
    await here.sessions.restore('s');
    expect((await (await here.sessions.get('s')).send('more')).text).toBe('again');
  });

  test("another agent's session is refused", async () => {
    const { agent, runtime } = await clerk();
    await agent.sessions.create({ sessionId: 's' });
    const other = runtime.agent({ id: 'other', model: new ScriptedModel([]) });
    await expect(other.sessions.archive('s')).rejects.toMatchObject({ code: 'PERDURE_SESSION_CONFIGURATION' });
  });
});
