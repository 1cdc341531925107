import { describe, expect, onTestFinished, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { AgentOptions, BudgetGuard, Session } from '@perdure/plugin-api';
import type { PayloadOf } from '@perdure/events';
import { MemoryEventStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, storesWith } from '../fixtures/agents.js';
import { gatedModel } from '../fixtures/gated-model.js';
import { waitUntil } from '../fixtures/wait-until.js';

const answers = Array.from({ length: 8 }, () => ({ text: 'well' }));

async function clerk(options: Partial<AgentOptions>, store = new MemoryEventStore(), closeGraceMs = 0) {
  const runtime = await createTestRuntime({ plugins: [storesWith(store), allowing], closeGraceMs });
  onTestFinished(() => runtime.dispose());
  const model = new ScriptedModel(answers);
  const agent = runtime.agent({ id: 'clerk', model: 'main', ...options, models: { main: model, ...options.models } });
  const calls = async (session: Session, type: 'ModelAnswered' | 'ModelCallFailed' | 'ModelCallDenied') => {
    const { facts } = await store.read(`session-_.${session.id}`);
    return facts
      .filter((fact) => fact.type === type)
      .map((fact) => JSON.parse(fact.payload) as PayloadOf<'ModelAnswered'>)
      .filter(({ purpose }) => purpose === 'title');
  };
  return { store, runtime, agent, model, calls };
}

const theirs = {
  id: 'theirs',
  messages: [
    { role: 'assistant', content: 'Hello.' },
    { role: 'user', content: 'Theirs is this.' },
  ],
};
const titled = (session: Session): Promise<unknown> =>
  waitUntil(async () => (await session.info()).titleBy === 'model');

describe('titles of sessions', () => {
  test('cost nothing unless they are wanted: the first words of the first prompt are the title', async () => {
    const { agent, model } = await clerk({});
    const session = await agent.sessions.create();
    await session.send('Write the notes of the release.');
    await session.send('And now the news.');
    expect(await session.info()).toMatchObject({ title: 'Write the notes of the release.', titleBy: 'prompt' });
    expect(model.calls).toHaveLength(2);
  });

  test('are made beside the turns, which do not wait for them [P8]', async () => {
    const titler = gatedModel([{ text: '"Notes"\n\nof the   release' }]);
    const { agent, calls, store } = await clerk({ titles: 'titler', models: { titler: titler.model } });
    const session = await agent.sessions.create();
    const told: string[] = [];
    session.subscribe((mutation) => {
      if (mutation.variant === 'session' && mutation.type === 'title') told.push(mutation.title);
    });
    const heard: string[] = [];
    session.registerHook('g', 'generate_start', null, null, ({ payload }) => void heard.push(payload.model_name));
    expect((await session.send('Write the notes.')).success).toBe(true);
    expect((await session.send('And the news.')).success).toBe(true);
    expect(await session.info()).toMatchObject({ title: 'Write the notes.', titleBy: 'prompt' });
    titler.release();
    await titled(session);
    expect(await session.info()).toMatchObject({ title: '"Notes" of the release', titleBy: 'model' });
    expect(told).toEqual(['"Notes" of the release']);
    expect(heard).toEqual(['main', 'titler', 'main']);
    expect(await calls(session, 'ModelAnswered')).toMatchObject([{ model: 'titler' }]);
    expect((await agent.sessions.list()).items[0]).toMatchObject({ title: '"Notes" of the release', titleBy: 'model' });
    await session.send('More.');
    expect(titler.inner.calls).toHaveLength(1);
    const spent = (await calls(session, 'ModelAnswered'))[0]?.usage.totalTokens ?? 0;
    const { facts } = await store.read(`session-_.${session.id}`);
    const steps = facts
      .filter(({ type }) => type === 'RunEnded')
      .reduce((sum, fact) => sum + (JSON.parse(fact.payload) as PayloadOf<'RunEnded'>).usage.totalTokens, 0);
    expect(spent).toBeGreaterThan(0);
    expect((await session.info()).usage.totalTokens).toBe(steps + spent);
    expect((await agent.replay(session.id)).difference).toBeUndefined();
  });

  test('of the host are kept, and no model is asked', async () => {
    const { agent, calls, model } = await clerk({ titles: true });
    const session = await agent.sessions.create({ title: 'Mine' });
    await session.send('hello');
    const other = await agent.sessions.create();
    await (
      await other.set({ title: 'Mine too' })
    ).finished;
    await other.send('hello');
    await other.send('hello');
    expect([(await session.info()).title, (await other.info()).title]).toEqual(['Mine', 'Mine too']);
    expect([...(await calls(session, 'ModelAnswered')), ...(await calls(other, 'ModelAnswered'))]).toEqual([]);
    expect(model.calls).toHaveLength(3);
  });

  test('that a host gives while a model is asked win', async () => {
    const titler = gatedModel([{ text: 'from the model' }]);
    const { agent, calls } = await clerk({ titles: 'titler', models: { titler: titler.model } });
    const session = await agent.sessions.create();
    await session.send('hello');
    await (
      await session.set({ title: 'Mine' })
    ).finished;
    titler.release();
    await waitUntil(async () => (await calls(session, 'ModelAnswered')).length === 1);
    expect(await session.info()).toMatchObject({ title: 'Mine', titleBy: 'host' });
  });

  test('that cannot be made fail no step and are not asked for again', async () => {
    const titler = gatedModel([{ error: { status: 500, message: 'out of order' } }, { text: 'late' }]);
    const main = gatedModel(answers);
    const { agent, calls } = await clerk({ titles: 'titler', models: { main: main.model, titler: titler.model } });
    const session = await agent.sessions.create();
    main.release();
    await session.send('hello');
    main.close();
    const turn = await session.prompt('more');
    titler.release();
    await waitUntil(async () => (await calls(session, 'ModelCallFailed')).length === 1);
    main.release();
    expect(await turn.finished).toMatchObject({ success: true });
    expect(main.inner.calls).toHaveLength(2);
    await session.send('and more');
    expect(titler.inner.calls).toHaveLength(1);
    expect(await session.info()).toMatchObject({ title: 'hello', titleBy: 'prompt' });
    expect((await agent.replay(session.id)).difference).toBeUndefined();
  });

  test('pass the budget, and a refusal is a fact that harms no turn [P8]', async () => {
    const asked: string[] = [];
    const guard: BudgetGuard = {
      checkBeforeLlm: ({ model }) => {
        asked.push(model);
        return model === 'titler'
          ? { decision: 'deny', resource: 'llm_tokens', reason: 'too dear' }
          : { decision: 'allow' };
      },
    };
    const titler = new ScriptedModel(answers);
    const { agent, calls } = await clerk({ titles: 'titler', models: { titler }, budgetGuard: guard });
    const session = await agent.sessions.create();
    expect((await session.send('hello')).success).toBe(true);
    await waitUntil(async () => (await calls(session, 'ModelCallDenied')).length === 1);
    await session.send('more');
    expect([titler.calls, asked]).toEqual([[], ['main', 'titler', 'main']]);
  });

  test('of sessions that work for others are made only when that is wanted', async () => {
    const { agent, model } = await clerk({ titles: true });
    const parent = await agent.sessions.create({ sessionId: 'top' });
    const child = await agent.sessions.create({ parent: parent.id });
    await child.send('hello');
    await child.send('more');
    expect(model.calls).toHaveLength(2);
    const wanted = await clerk({ titles: { children: true } });
    await wanted.agent.sessions.create({ sessionId: 'top' });
    const other = await wanted.agent.sessions.create({ parent: 'top' });
    await other.send('hello');
    await titled(other);
  });

  test('that a process left unasked for are asked for once more behind the next turn, and then never', async () => {
    const store = new MemoryEventStore();
    let asked = 0;
    for (const query of ['one', 'two', 'three', 'four']) {
      const titler = gatedModel([{ text: 'a title' }]);
      const { agent, runtime } = await clerk({ titles: 'titler', models: { titler: titler.model } }, store);
      await agent.ready();
      const session = agent.session('', { sessionId: 's' });
      await session.send(query);
      // The process ends while the model is asked.
      await runtime.dispose();
      titler.release();
      asked += titler.begun();
      expect((await store.read('session-_.s')).facts.some(({ payload }) => payload.includes('"title"'))).toBe(false);
    }
    expect(asked).toBe(2);
  });

  test('are waited for as long as calls are when a session is let go', async () => {
    const titler = gatedModel([{ text: 'a title' }]);
    const store = new MemoryEventStore();
    const { agent, runtime } = await clerk({ titles: 'titler', models: { titler: titler.model } }, store, 10_000);
    await agent.ready();
    await agent.session('', { sessionId: 's' }).send('hello');
    const disposed = runtime.dispose();
    titler.release();
    await disposed;
    const { facts } = await store.read('session-_.s');
    expect(facts.filter(({ type }) => type === 'SessionTitled')).toHaveLength(1);
  });

  test('of forks and of imported sessions are the same in lists, in searches and of the session', async () => {
    const { agent } = await clerk({});
    const { sessions } = agent;
    const session = await sessions.create({ sessionId: 's' });
    const empty = await sessions.fork((await sessions.create({ sessionId: 'blank' })).id, { sessionId: 'empty' });
    await session.send('Write the notes.');
    const { revision } = await session.info();
    await sessions.fork('s', { sessionId: 'early', at: 0 });
    const fork = await sessions.fork('s', { sessionId: 'fork' });
    const again = await sessions.fork('fork', { sessionId: 'again' });
    const named = await sessions.fork('s', { sessionId: 'named', at: revision });
    await (
      await named.set({ title: 'Mine' })
    ).finished;
    await sessions.fork('named', { sessionId: 'unnamed' });
    for (const each of [fork, again, empty]) await each.send(`In ${each.id}.`);
    await sessions.import(theirs, { sessionId: 'imported' });
    const { items } = await sessions.list();
    const listed = new Map(items.map(({ id, title, titleBy }) => [id, [title, titleBy]]));
    for (const { id } of items) {
      const { title, titleBy } = await (await sessions.get(id)).info();
      expect([id, listed.get(id)]).toEqual([id, [title, titleBy]]);
    }
    const notes = ['Write the notes.', 'prompt'];
    expect(Array.from(listed).sort(([one], [other]) => (one < other ? -1 : 1))).toEqual([
      ['again', notes],
      ['blank', [null, null]],
      ['early', [null, null]],
      ['empty', ['In empty.', 'prompt']],
      ['fork', notes],
      ['imported', ['Theirs is this.', 'prompt']],
      ['named', ['Mine', 'host']],
      ['s', notes],
      ['unnamed', notes],
    ]);
    const found = (await sessions.search('the notes')).items.filter(({ found: { in: where } }) => where === 'title');
    expect(found.map(({ id }) => id).toSorted()).toEqual(['again', 'fork', 's', 'unnamed']);
    for (const item of items) expect(Object.keys(item)).not.toContain('words');
  });

  test('of forks that were made while the first prompt waited are their own', async () => {
    const main = gatedModel(answers);
    const { agent } = await clerk({ models: { main: main.model } });
    const session = await agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('It waits.');
    await waitUntil(() => main.begun() === 1);
    const fork = await agent.sessions.fork('s', { sessionId: 'f' });
    main.release();
    await turn.finished;
    const titles = async () => {
      const listed = (await agent.sessions.list()).items.find(({ id }) => id === 'f');
      return [listed?.title, (await fork.info()).title];
    };
    expect(await titles()).toEqual([null, null]);
    await fork.send('Its own.');
    expect(await titles()).toEqual(['Its own.', 'Its own.']);
  });

  test.each([
    ['titles', 'nobody', 'PERDURE_MODEL_UNKNOWN'],
    ['titles', { model: '' }, 'PERDURE_CONFIGURATION'],
    ['titles', 7, 'PERDURE_CONFIGURATION'],
  ])('%s: %o is refused when the agent is made', async (_, titles, code) => {
    const made = async () => (await clerk({ titles: titles as never })).agent.ready();
    await expect(made()).rejects.toMatchObject({ code });
  });
});
