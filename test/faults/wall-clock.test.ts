import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { verifySession } from '@perdure/core';
import { forkNode, type ForkedNode } from '../fixtures/forked-node.js';
import { startStoreServer, type StoreServer } from '../fixtures/store-server.js';
import type { TestStoreName } from '../fixtures/test-stores.js';
import { startClusterNode, type ClusterNodeRequest } from './cluster-node.fixture.js';
import { factsOf, flawsIn, reignsIn } from './ownership-record.js';

const TTL = Number(process.env['PERDURE_NODES_TTL_MS'] ?? 3_000);
const HOUR = 3_600_000;

const program = new URL('cluster-node.fixture.ts', import.meta.url);
const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function cluster(name: TestStoreName) {
  const folder = mkdtempSync(join(tmpdir(), 'perdure-clock-'));
  ends.push(() => rmSync(folder, { recursive: true, force: true }));
  const server: StoreServer | undefined = await startStoreServer(name);
  if (server !== undefined) ends.push(server.stop);
  return { folder, store: { name, url: server?.url ?? '' }, leaseTtlMs: TTL };
}

test.each(['sqlite', 'postgres'] as const)(
  'a node whose wall clock is set by an hour keeps its sessions, and is reached: %s [P4/nodes] [P7/nodes]',
  async (kind) => {
    const common = await cluster(kind);
    const sessions = ['forth', 'back', 'stopped'];
    const jumping: ForkedNode<ClusterNodeRequest> = await forkNode(program, {
      ...common,
      nodeId: 'jumping',
      inside: sessions,
    });
    ends.push(() => jumping.kill());
    await jumping.ask({ do: 'start' });
    // It watches the other node all the time, and would take what that loses.
    const watcher = await startClusterNode({ ...common, nodeId: 'watcher' });
    const { store } = watcher.runtime.services;
    await jumping.ask({ do: 'work', prompts: sessions.map((session) => ({ session, query: `once ${session} 1` })) });
    const promptAll = (prompt: string) =>
      Promise.all(
        ['forth', 'back'].map(async (id) => {
          const session = await watcher.agent.sessions.get(id);
          return session.prompt({ query: `once ${id} ${prompt}`, whenBusy: 'queue' });
        }),
      );

    await jumping.ask({ do: 'jump', ms: HOUR });
    const turns = await promptAll('2');
    await delay(1.3 * TTL);
    await jumping.ask({ do: 'jump', ms: -2 * HOUR });
    turns.push(...(await promptAll('3')));
    await delay(1.3 * TTL);
    const stopped = await watcher.agent.sessions.get('stopped');
    const { turn } = await stopped.info();
    await stopped.stop();
    await jumping.ask({ do: 'release' });
    const results = await Promise.all(turns.map(({ finished }) => finished));
    expect(results.map(({ status }) => status)).toEqual(turns.map(() => 'completed'));
    for (const id of sessions) {
      await verifySession(store, { id });
      const facts = await factsOf(store, id);
      // The times of the facts run back and forth; nobody goes by them.
      const times = facts.map(({ metadata }) => metadata.time);
      expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(HOUR / 2);
      expect(flawsIn(facts)).toEqual([]);
      expect(reignsIn(facts).map(({ node, epoch }) => `${node} ${epoch}`)).toEqual(['jumping 1']);
    }
    const ended = (await factsOf(store, 'stopped')).find(({ type }) => type === 'RunEnded');
    expect(ended?.payload).toMatchObject({ turnId: turn?.id, status: 'cancelled' });
    await jumping.ask({ do: 'dispose' });
    await watcher.runtime.dispose();
  },
);
