import { afterEach, describe, expect, test } from 'vitest';
import { listArtifacts, loadSession, takeSnapshot, type PerdureRuntime } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import { sessionStream } from '@perdure/events';
import type { Agent, Session } from '@perdure/plugin-api';
import { MemoryArtifactStore, MemoryEventStore, MemoryProjectionStore } from '@perdure/store-memory';
import { ScriptedModel, type Script } from '@perdure/testing';
import { toolsArtifacts } from '@perdure/tools-artifacts';
import { z } from 'zod';
import { allowing, storesWith } from '../fixtures/agents.js';

const runtimes: PerdureRuntime[] = [];
afterEach(async () => {
  await Promise.all(runtimes.splice(0).map((runtime) => runtime.dispose()));
});

const lines = Array.from({ length: 4_000 }, (_, index) => `line ${index} of the log`).join('\n');
const note = 'a note that is attached';
const script: Script = {
  rules: [
    { when: { userTextContains: 'the log', toolResults: 0 }, answer: { calls: [{ name: 'log', input: {} }] } },
    { answer: { text: 'well' } },
  ],
};

interface Place {
  readonly store: MemoryEventStore;
  readonly projections: MemoryProjectionStore;
  readonly artifacts: MemoryArtifactStore;
}
const place = (): Place => ({
  store: new MemoryEventStore(),
  projections: new MemoryProjectionStore(),
  artifacts: new MemoryArtifactStore(),
});

async function node({ store, projections, artifacts }: Place) {
  const plugins = [storesWith(store, projections, artifacts), allowing, toolsArtifacts];
  const runtime = await createTestRuntime({ plugins });
  runtimes.push(runtime);
  const log = { inputSchema: z.object({}), effect: 'read' as const, execute: () => lines };
  const limits = { maxOutputCharacters: 2_000 };
  const agent = runtime.agent({ id: 'clerk', model: new ScriptedModel(script), limits, tools: { log } as never });
  await agent.ready();
  return agent;
}

/** A session with an attachment and a large output, and their digests. */
async function talk(
  agent: Pick<Agent, 'sessions'>,
  at: Place,
): Promise<{ session: Session; file: string; output: string }> {
  const session = await agent.sessions.create({ sessionId: 's' });
  await session.send({ query: 'show the log', attachments: [{ data: Buffer.from(note), filename: 'note.txt' }] });
  const [file, output] = await listArtifacts(at.store, 'session-_.s');
  return { session, file: file?.digest ?? '', output: output?.digest ?? '' };
}

const sizes = async (session: Session, ...digests: string[]) =>
  Promise.all(digests.map(async (digest) => (await session.artifact(digest))?.length));
const both = [note.length, lines.length];

async function readByTool(session: Session, artifact: string): Promise<unknown> {
  return (await session.tool('read_artifact', { artifact, offset: 100, limit: 50 })).output;
}

describe('a fork', () => {
  test('reads the files and large outputs of what it goes on from, by the API and by the tool', async () => {
    const at = place();
    const agent = await node(at);
    const { session, file, output } = await talk(agent, at);
    const fork = await agent.sessions.fork('s', { sessionId: 'f' });
    const again = await agent.sessions.fork('f', { sessionId: 'g' });
    for (const each of [session, fork, again]) {
      expect(await sizes(each, file, output)).toEqual(both);
      expect(await readByTool(each, output)).toMatchObject({ content: lines.slice(100, 150) });
    }
    // What comes behind the fork is each one's own.
    await session.send({ query: 'and this', attachments: [{ data: Buffer.from('later') }] });
    const later = (await listArtifacts(at.store, 'session-_.s')).at(-1)?.digest ?? '';
    expect(await sizes(session, later)).toEqual([5]);
    for (const each of [fork, again]) expect(await sizes(each, later)).toEqual([undefined]);
    for (const id of ['f', 'g']) {
      expect((await listArtifacts(at.store, `session-_.${id}`)).map(({ digest }) => digest)).toEqual([file, output]);
      expect((await agent.replay(id)).difference).toBeUndefined();
    }
  });

  test('reads them after it was compacted, and in another process with and without state snapshots', async () => {
    const at = place();
    const agent = await node(at);
    const { file, output } = await talk(agent, at);
    const fork = await agent.sessions.fork('s', { sessionId: 'f' });
    for (const query of ['one', 'two', 'three']) await fork.send(query);
    await (
      await fork.compact()
    ).finished;
    expect(await sizes(fork, file, output)).toEqual(both);
    for (const projections of [at.projections, new MemoryProjectionStore()]) {
      const other = await node({ ...at, projections });
      const opened = await other.sessions.get('f');
      expect(await sizes(opened, file, output)).toEqual(both);
      expect(await sizes(await other.sessions.fork('f'), file, output)).toEqual(both);
    }
  });

  test('of an earlier place has those of then', async () => {
    const at = place();
    const agent = await node(at);
    const { session, file, output } = await talk(agent, at);
    const { revision } = await session.info();
    await session.send({ query: 'and this', attachments: [{ data: Buffer.from('later') }] });
    const later = (await listArtifacts(at.store, 'session-_.s')).at(-1)?.digest ?? '';
    const fork = await agent.sessions.fork('s', { sessionId: 'f', at: revision });
    expect(await sizes(fork, file, output, later)).toEqual([...both, undefined]);
    expect(await sizes(await agent.sessions.fork('s', { at: 0 }), file, output)).toEqual([undefined, undefined]);
    expect((await listArtifacts(at.store, 'session-_.f')).map(({ digest }) => digest)).toEqual([file, output]);
  });

  test('is exported with them', async () => {
    const at = place();
    const agent = await node(at);
    const { file, output } = await talk(agent, at);
    await agent.sessions.fork('s', { sessionId: 'f' });
    const [runtime] = runtimes;
    const { store, facts } = runtime?.services ?? expect.fail();
    const folded = await loadSession(store, sessionStream({ id: 'f' }), facts);
    const snapshot = await takeSnapshot({ store, facts }, { id: 'f' }, folded);
    expect(snapshot.retained_artifact_uris).toEqual([file, output].toSorted());
  });
});

describe('an artifact of a session and its fork', () => {
  const kept = ({ artifacts }: Place, ...digests: string[]) =>
    Promise.all(digests.map(async (digest) => (await artifacts.get(undefined, digest)) !== undefined));
  const attached = { data: Buffer.from(note), filename: 'note.txt' };

  test('outlives the fork, also one that names it itself, and not the last that names it', async () => {
    const at = place();
    const agent = await node(at);
    const { session, file, output } = await talk(agent, at);
    const fork = await agent.sessions.fork('s', { sessionId: 'f' });
    await fork.send({ query: 'see', attachments: [attached, { data: Buffer.from('only here') }] });
    const own = (await listArtifacts(at.store, 'session-_.f')).at(-1)?.digest ?? '';
    await agent.sessions.fork('f', { sessionId: 'g' });
    await agent.sessions.erase('g');
    expect(await kept(at, file, output, own)).toEqual([true, true, true]);
    expect(await sizes(fork, file, output, own)).toEqual([...both, 9]);
    await agent.sessions.erase('f');
    expect(await kept(at, file, output, own)).toEqual([true, true, false]);
    expect(await sizes(session, file, output)).toEqual(both);
    expect(await readByTool(session, output)).toMatchObject({ content: lines.slice(100, 150) });
    await agent.sessions.erase('s');
    expect(await kept(at, file, output)).toEqual([false, false]);
  });

  test('is there as long as the fork is, which keeps the first from being erased, and goes with both', async () => {
    const at = place();
    const agent = await node(at);
    const { file, output } = await talk(agent, at);
    const fork = await agent.sessions.fork('s', { sessionId: 'f' });
    const other = await agent.sessions.create({ sessionId: 'other' });
    await other.send({ query: 'see', attachments: [attached] });
    await expect(agent.sessions.erase('s')).rejects.toMatchObject({ code: 'PERDURE_HAS_FORKS' });
    expect(await sizes(fork, file, output)).toEqual(both);
    await agent.sessions.erase('s', { cascade: true });
    expect(await kept(at, file, output)).toEqual([true, false]);
    expect(await sizes(other, file)).toEqual([note.length]);
    await agent.sessions.erase('other');
    expect(await kept(at, file)).toEqual([false]);
  });
});
