import { describe, expect, test } from 'vitest';
import { createTestRuntime } from '@perdure/core/testing';
import { listArtifacts } from '@perdure/core';
import type { ArtifactStore, EventStore, ProjectionStore } from '@perdure/plugin-api';
import { MemoryArtifactStore, MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { allowing, lookupTool, storesWith } from '../fixtures/agents.js';
import { waitUntil } from '../fixtures/wait-until.js';

const script: Script = {
  rules: [
    {
      when: { userTextContains: 'look', toolResults: 0 },
      answer: { calls: [{ name: 'look', input: { key: 'a' } }] },
    },
    { answer: { text: 'the answer', deltas: 2 } },
  ],
};

interface Place {
  readonly store: EventStore;
  readonly projections: ProjectionStore;
  readonly artifacts: ArtifactStore;
}
const place = (): Place => ({
  store: new MemoryEventStore(),
  projections: new MemoryProjectionStore(),
  artifacts: new MemoryArtifactStore(),
});

async function node({ store, projections, artifacts }: Place, nodeId = 'a', execute?: () => unknown) {
  const runtime = await createTestRuntime({
    plugins: [storesWith(store, projections, artifacts), allowing],
    env: { nodeId },
    leaseTtlMs: 300,
  });
  const look = lookupTool([], 'once');
  const tools = { look: execute === undefined ? look : { ...look, execute } };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), tools });
  await agent.ready();
  return { runtime, agent };
}

const stored = async ({ store }: Place, id: string) => (await store.read(`session-_.${id}`)).facts;
const types = async (at: Place, id: string) => (await stored(at, id)).map(({ type }) => type);

describe('erasing a session', () => {
  test('leaves that there was one, and nothing of what it held', async () => {
    const at = place();
    const { runtime, agent } = await node(at);
    const session = await agent.sessions.create({ sessionId: 's', principal: 'ada' });
    const attachments = [{ data: Buffer.from('a private file'), filename: 'own.txt' }];
    await session.send({ query: 'a private matter', attachments });
    await session.save();
    const other = await agent.sessions.create({ sessionId: 'other' });
    const shared = { data: Buffer.from('a file of both'), filename: 'both.txt' };
    for (const each of [session, other]) await each.send({ query: 'look', attachments: [shared] });
    expect((await agent.sessions.search('private')).items).toHaveLength(1);
    const [own = '', both = ''] = (await listArtifacts(at.store, 'session-_.s')).map(({ digest }) => digest);
    expect(await agent.sessions.erase('s', { reason: 'she asked for it' })).toEqual({ sessions: ['s'] });

    const [last, ...others] = await stored(at, 's');
    expect(others).toEqual([]);
    expect(last?.type).toBe('SessionErased');
    expect(JSON.parse(last?.payload ?? '')).toEqual({ agentId: 'clerk', reason: 'she asked for it' });
    expect((await at.store.read('draft-_.s')).facts).toEqual([]);
    expect((await agent.sessions.list()).items.map(({ id }) => id)).toEqual(['other']);
    expect((await agent.sessions.search('private')).items).toEqual([]);
    expect([await at.artifacts.get(undefined, own), (await at.artifacts.get(undefined, both)) === undefined]).toEqual([
      undefined,
      false,
    ]);
    await agent.sessions.erase('other');
    expect(await at.artifacts.get(undefined, both)).toBeUndefined();
    for (const name of ['session-list', 'session-text', 'artifact-uses', 'runnable', 'state:_.s']) {
      const rows = await Promise.all([1, 2, 3, 4].map((version) => at.projections.rows(`${name}@${version}`)));
      expect(JSON.stringify([...rows, await at.projections.rows(name)])).not.toContain('private');
    }

    // It is gone for this process and for others, and its id stays taken.
    const second = await node(at, 'b');
    for (const { sessions } of [agent, second.agent]) {
      await expect(sessions.get('s')).rejects.toMatchObject({ code: 'PERDURE_SESSION_ERASED' });
      await expect(sessions.create({ sessionId: 's' })).rejects.toMatchObject({ code: 'PERDURE_SESSION_ERASED' });
      await expect(sessions.fork('s')).rejects.toMatchObject({ code: 'PERDURE_SESSION_ERASED' });
      expect(await sessions.erase('s')).toEqual({ sessions: ['s'] });
    }
    expect(await agent.sessions.remove('none')).toBe(false);
    await expect(agent.sessions.erase('none')).rejects.toMatchObject({ code: 'PERDURE_SESSION_NOT_FOUND' });
    await second.runtime.dispose();
    await runtime.dispose();
  });

  test('stops what runs, on another node too', async () => {
    const at = place();
    const stopped: string[] = [];
    const slow = (_: unknown, { abortSignal }: { abortSignal?: AbortSignal } = {}): Promise<string> =>
      new Promise((resolve) => {
        abortSignal?.addEventListener('abort', () => {
          stopped.push('stopped');
          resolve('too late');
        });
      });
    const owner = await node(at, 'a', slow as () => unknown);
    const session = await owner.agent.sessions.create({ sessionId: 's' });
    const turn = await session.prompt('look');
    await waitUntil(async () => (await types(at, 's')).includes('ToolCallStarted'));
    const other = await node(at, 'b');
    await other.agent.sessions.erase('s');
    expect(stopped).toEqual(['stopped']);
    expect(await turn.finished).toMatchObject({ success: false });
    expect(await types(at, 's')).toEqual(['SessionErased']);
    await expect(session.prompt('more')).rejects.toMatchObject({ code: 'PERDURE_SESSION_ERASED' });
    await other.runtime.dispose();
    await owner.runtime.dispose();
  });

  test('is refused while others are forked from it, unless they go with it', async () => {
    const at = place();
    const { runtime, agent } = await node(at);
    await (await agent.sessions.create({ sessionId: 's' })).send('one');
    await agent.sessions.create({ sessionId: 'child', parent: 's' });
    await agent.sessions.fork('s', { sessionId: 'f' });
    await agent.sessions.fork('f', { sessionId: 'g' });
    await agent.sessions.fork('child', { sessionId: 'h' });
    expect(await agent.sessions.tree('s')).toMatchObject({
      id: 's',
      kind: null,
      below: [
        { id: 'child', kind: 'child', below: [{ id: 'h', kind: 'fork' }] },
        { id: 'h', kind: 'child' },
        { id: 'f', kind: 'fork', below: [{ id: 'g', kind: 'fork' }] },
      ],
    });
    await expect(agent.sessions.erase('s')).rejects.toMatchObject({ code: 'PERDURE_HAS_FORKS' });
    expect(await types(at, 's')).not.toContain('EraseRequested');
    expect((await (await agent.sessions.get('g')).messages()).total).toBe(2);

    // A fork that is gone is in nobody's way.
    expect(await agent.sessions.remove('g')).toBe(true);
    expect((await agent.sessions.erase('s', { cascade: true })).sessions.toSorted()).toEqual([
      'child',
      'f',
      'g',
      'h',
      's',
    ]);
    for (const id of ['s', 'child', 'f', 'g', 'h']) expect(await types(at, id)).toEqual(['SessionErased']);
    expect((await agent.sessions.tree('s')).isErased).toBe(true);
    await runtime.dispose();
  });

  test('goes on where a process died that had begun it', async () => {
    const at = place();
    const first = await node(at);
    const session = await first.agent.sessions.create({ sessionId: 's' });
    await session.send('one');
    await first.runtime.dispose();
    const { store } = at;
    let left = 2;
    const dying = new Proxy(store, {
      get: (target, name) => {
        if (name !== 'append' && name !== 'truncate') return Reflect.get(target, name).bind?.(target);
        return async (stream: string, ...given: unknown[]) => {
          const isSession = stream.startsWith('session-');
          if (isSession && left === 0) throw new Error('the process died');
          if (isSession) left -= 1;
          return Reflect.apply(Reflect.get(target, name), target, [stream, ...given]);
        };
      },
    });
    for (const appends of [1, 2, 3]) {
      left = appends;
      const dead = await node({ ...at, store: dying }, 'b');
      await dead.agent.sessions.erase('s').catch(() => undefined);
      await dead.runtime.dispose().catch(() => undefined);
    }
    const last = await node(at, 'c');
    await last.agent.sessions.erase('s');
    expect(await types(at, 's')).toEqual(['SessionErased']);
    await last.runtime.dispose();
  });

  test('leaves an artifact to a session whose id begins with that of the erased one', async () => {
    const at = place();
    const { runtime, agent } = await node(at);
    const attachments = [{ data: Buffer.from('a file of all'), filename: 'all.txt' }];
    for (const sessionId of ['s', 's-2', 't']) {
      await (await agent.sessions.create({ sessionId })).send({ query: 'see', attachments });
    }
    const [artifact] = await listArtifacts(at.store, 'session-_.s-2');
    await agent.sessions.erase('s');
    await agent.sessions.erase('t');
    expect(await at.artifacts.get(undefined, artifact?.digest ?? '')).toBeDefined();
    await runtime.dispose();
  });

  test('by two nodes at once ends for both', async () => {
    const at = place();
    const nodes = await Promise.all(['a', 'b', 'c'].map((nodeId) => node(at, nodeId)));
    const session = await nodes[0]?.agent.sessions.create({ sessionId: 's' });
    await session?.send('one');
    const erasures = await Promise.all(nodes.map(({ agent }) => agent.sessions.erase('s')));
    expect(erasures.map(({ sessions }) => sessions)).toEqual([['s'], ['s'], ['s']]);
    expect(await types(at, 's')).toEqual(['SessionErased']);
    for (const { runtime } of nodes) await runtime.dispose();
  });
});
