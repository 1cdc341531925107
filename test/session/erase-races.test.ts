import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import type { EventStore, Session } from '@perdure/plugin-api';
import { MemoryArtifactStore, MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const place = () => ({
  store: new MemoryEventStore() as EventStore,
  projections: new MemoryProjectionStore(),
  artifacts: new MemoryArtifactStore(),
});
type Place = ReturnType<typeof place>;

async function node({ store, projections, artifacts }: Place, nodeId: string, execute?: () => unknown) {
  const runtime = await createTestRuntime({
    plugins: [storesWith(store, projections, artifacts), allowing],
    env: { nodeId },
    leaseTtlMs: 300,
  });
  const look = lookupTool([], 'once');
  const model = new ScriptedModel({
    rules: [
      {
        when: { userTextContains: 'look', toolResults: 0 },
        answer: { calls: [{ name: 'look', input: { key: 'a' } }] },
      },
      { answer: { text: 'well' } },
    ],
  });
  const agent = runtime.agent({ id: 'clerk', model, tools: { look: execute ? { ...look, execute } : look } });
  await agent.ready();
  return { runtime, agent };
}

const types = async ({ store }: Place, id: string) =>
  (await store.read(`session-_.${id}`)).facts.map(({ type }) => type);

/** The same store; `before` and `behind` are awaited around each append of a type. */
function around(store: EventStore, type: string, before: () => unknown, behind: () => unknown = () => undefined) {
  return new Proxy(store, {
    get: (target, name) => {
      if (name !== 'append') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
      return async (...given: Parameters<EventStore['append']>) => {
        const isMeant = given[1].some((fact) => fact.type === type);
        if (isMeant) await before();
        const outcome = await target.append(...given);
        if (isMeant) await behind();
        return outcome;
      };
    },
  });
}

async function* silence(signal: AbortSignal | undefined): AsyncGenerator<never> {
  await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()));
  yield* [];
}

describe('a fork that meets an erasure', () => {
  test('behind the request is given up, also when the other session is gone by then', async () => {
    const at = place();
    const eraser = await node(at, 'a');
    await (await eraser.agent.sessions.create({ sessionId: 's' })).send('one');
    const erase = (): Promise<unknown> => eraser.agent.sessions.erase('s');
    const forker = await node({ ...at, store: around(at.store, 'SessionForked', erase) }, 'b');
    const fork = forker.agent.sessions.fork('s', { sessionId: 'x' });
    await expect(fork).rejects.toMatchObject({ code: 'PERDURE_SESSION_ERASED' });
    expect([await types(at, 's'), await types(at, 'x')]).toEqual([['SessionErased'], ['SessionErased']]);
    expect((await eraser.agent.sessions.list()).items).toEqual([]);
    for (const { runtime } of [eraser, forker]) await runtime.dispose();
  });

  test('can be erased when its maker died before it was given up', async () => {
    const at = place();
    const eraser = await node(at, 'a');
    await (await eraser.agent.sessions.create({ sessionId: 's' })).send('one');
    const erase = (): Promise<unknown> => eraser.agent.sessions.erase('s');
    const die = (): never => {
      throw new Error('the process died');
    };
    const dying = await node({ ...at, store: around(at.store, 'SessionForked', erase, die) }, 'b');
    await dying.agent.sessions.fork('s', { sessionId: 'x' }).catch(() => undefined);
    expect(await types(at, 'x')).toEqual(['SessionForked']);
    const { sessions } = eraser.agent;
    for (const look of [() => sessions.get('x'), () => sessions.archive('x'), () => sessions.fork('x')]) {
      await expect(look()).rejects.toMatchObject({ code: 'PERDURE_SESSION_ERASED' });
    }
    expect(await sessions.erase('x')).toEqual({ sessions: ['x'] });
    expect(await types(at, 'x')).toEqual(['SessionErased']);
    for (const { runtime } of [eraser, dying]) await runtime.dispose();
  });

  test('before the request stays, and the session that it was made of goes on', async () => {
    const at = place();
    const forker = await node(at, 'b');
    await (await forker.agent.sessions.create({ sessionId: 's' })).send('one');
    let isMade = false;
    const fork = async (): Promise<void> => {
      if (isMade) return;
      isMade = true;
      await forker.agent.sessions.fork('s', { sessionId: 'x' });
    };
    const eraser = await node({ ...at, store: around(at.store, 'EraseRequested', fork) }, 'a');
    const erasure = eraser.agent.sessions.erase('s');
    await expect(erasure).rejects.toMatchObject({ code: 'PERDURE_HAS_FORKS', data: { session: 's', forks: 1 } });
    expect(await types(at, 's')).toEqual(expect.arrayContaining(['EraseRequested', 'SessionRestored']));
    const row = JSON.stringify(await at.projections.rows('runnable@6'));
    expect(row).not.toContain('"erasing":{');
    for (const id of ['s', 'x']) {
      for (const { agent } of [eraser, forker]) {
        expect(await (await agent.sessions.get(id)).send('two')).toMatchObject({ success: true });
        await (await agent.sessions.get(id)).close();
      }
    }
    for (const { runtime } of [eraser, forker]) await runtime.dispose();
  });
});

describe('a session that another node erases', () => {
  async function watched(session: Session) {
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { type } of session.events()) seen.push(type);
    })().catch((error: unknown) => error);
    await waitUntil(() => seen.length > 0);
    return { seen, reading };
  }

  test('ends for those who hold it with what became of it', async () => {
    const at = place();
    const owner = await node(at, 'a');
    const first = await owner.agent.sessions.create({ sessionId: 's' });
    await first.send('one');
    await first.close();
    // Nothing of what is appended there is told here before it is truncated.
    const deaf = new Proxy(at.store, {
      get: (target, name) => {
        if (name !== 'subscribe') return Reflect.get(target, name).bind?.(target) ?? Reflect.get(target, name);
        return (...given: Parameters<EventStore['subscribe']>) =>
          JSON.stringify(given[0]).includes('session-_.s') ? silence(given[1]?.signal) : target.subscribe(...given);
      },
    });
    const other = await node({ ...at, store: deaf }, 'b');
    const session = await other.agent.sessions.get('s');
    const { reading } = await watched(session);
    await owner.agent.sessions.erase('s');
    const erased = { code: 'PERDURE_SESSION_ERASED' };
    await expect(session.messages()).rejects.toMatchObject(erased);
    expect(await reading).toMatchObject(erased);
    for (const use of [
      () => session.send('two'),
      () => session.artifact('sha256:0'),
      () => session.set({ title: 'x' }),
    ]) {
      await expect(use()).rejects.toMatchObject(erased);
    }
    const later = (async () => {
      for await (const event of session.events()) void event;
    })();
    await expect(later).rejects.toMatchObject(erased);
    expect(await other.agent.sessions.erase('s')).toEqual({ sessions: ['s'] });
    for (const { runtime } of [other, owner]) await runtime.dispose();
  });

  test('ends turns and changes that are waited for there', async () => {
    const at = place();
    const slow = (_: unknown, { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<string> =>
      new Promise((resolve) => abortSignal?.addEventListener('abort', () => resolve('too late')));
    const owner = await node(at, 'a', slow as () => unknown);
    const running = await (await owner.agent.sessions.create({ sessionId: 's' })).prompt('look');
    await waitUntil(async () => (await types(at, 's')).includes('ToolCallStarted'));
    const other = await node(at, 'b');
    const session = await other.agent.sessions.get('s');
    const change = await session.set({ title: 'x' });
    const turn = await session.prompt('more');
    const { reading } = await watched(session);
    await owner.agent.sessions.erase('s');
    expect(await turn.finished).toMatchObject({ success: false });
    expect(await running.finished).toMatchObject({ success: false });
    await change.finished;
    expect(await reading).toMatchObject({ code: 'PERDURE_SESSION_ERASED' });
    for (const { runtime } of [other, owner]) await runtime.dispose();
  });

  test('is told as erased by a handle of the process that erased it, and its id is not taken again', async () => {
    const at = place();
    const { runtime, agent } = await node(at, 'a');
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.send('one');
    const { reading } = await watched(session);
    await agent.sessions.erase('s');
    const erased = { code: 'PERDURE_SESSION_ERASED' };
    expect(await reading).toMatchObject(erased);
    const uses = [() => session.messages(), () => session.send('two'), () => session.artifact('sha256:0')];
    for (const use of [...uses, () => agent.sessions.create({ sessionId: 's' })]) {
      await expect(use()).rejects.toMatchObject(erased);
    }
    await runtime.dispose();
  });
});
