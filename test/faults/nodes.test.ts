import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { verifySession } from '@perdure/core';
import { forkNode, type ForkedNode } from '../fixtures/forked-node.js';
import { startStoreServer, type StoreServer } from '../fixtures/store-server.js';
import type { TestStoreName } from '../fixtures/test-stores.js';
import { waitUntil } from '../fixtures/wait-until.js';
import {
  CONTRACTS,
  effectsIn,
  startClusterNode,
  type ClusterNodeOrder,
  type ClusterNodeRequest,
} from './cluster-node.fixture.js';
import { factsOf as factsIn, flawsIn, needsNobody, ownerAt, reignsIn } from './ownership-record.js';

const SESSIONS = Number(process.env['PERDURE_NODES_SESSIONS'] ?? 16);
const TTL = Number(process.env['PERDURE_NODES_TTL_MS'] ?? 5_000);
/** One call of each contract that is held before its effect, and one behind it. */
const HELD = 2 * CONTRACTS.length;

/** Those that nothing happens to. */
const LIVING = ['survivor', 'first', 'second'];

const program = new URL('cluster-node.fixture.ts', import.meta.url);
const nodes = new Set<ForkedNode<ClusterNodeRequest>>();
let folder = '';
let server: StoreServer | undefined;
afterEach(async () => {
  for (const node of nodes) await node.kill();
  nodes.clear();
  await server?.stop();
  server = undefined;
  rmSync(folder, { recursive: true, force: true });
});

/** What all nodes of a cluster have in common. */
async function cluster(name: TestStoreName) {
  folder = mkdtempSync(join(tmpdir(), 'perdure-nodes-'));
  const given = process.env['PERDURE_TEST_STORE'] === name ? process.env['PERDURE_TEST_STORE_URL'] : undefined;
  if (given === undefined) server = await startStoreServer(name);
  return { folder, store: { name, url: given ?? server?.url ?? '' }, leaseTtlMs: TTL };
}

async function otherProcess(order: ClusterNodeOrder): Promise<ForkedNode<ClusterNodeRequest>> {
  const node = await forkNode<ClusterNodeRequest>(program, order);
  nodes.add(node);
  return node;
}

/** What a node is given at first. Where calls are held, the first half of them before their effects. */
function share(nodeId: string, count: number) {
  const sessions = Array.from({ length: count }, (_, index) => `${nodeId}${index}`);
  const contractOf = (index: number) => CONTRACTS[index % CONTRACTS.length] ?? 'once';
  return {
    sessions,
    hold: {
      between: sessions.filter((_, index) => index % HELD < CONTRACTS.length),
      inside: sessions.filter((_, index) => index % HELD >= CONTRACTS.length),
    },
    prompts: sessions.map((session, index) => ({ session, query: `${contractOf(index)} ${session} 1` })),
  };
}

const isStopped = (pid: number | undefined): boolean =>
  readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .startsWith('T');

test.each(['postgres', 'eventstoredb'] as const)(
  'nodes that die, stop past their lease and start together leave each session one owner: %s [P4/nodes]',
  async (kind) => {
    const common = await cluster(kind);
    const front = await startClusterNode({ ...common, nodeId: 'front' });
    await front.runtime.drain();
    const { store } = front.runtime.services;
    const factsOf = (id: string) => factsIn(store, id);

    const prepared = Array.from({ length: Math.ceil(SESSIONS / 10) }, (_, index) => `prepared${index}`);
    const rest = SESSIONS - prepared.length - HELD;
    const [ofZombie, ofKilled, ofSurvivor] = [
      share('zombie', HELD),
      share('killed', Math.ceil(rest / 2)),
      share('survivor', Math.floor(rest / 2)),
    ];
    const sessions = [ofZombie, ofKilled, ofSurvivor].flatMap((of) => of.sessions);
    const [zombie, killed, survivor, first, second] = await Promise.all([
      otherProcess({ ...common, nodeId: 'zombie', ...ofZombie.hold, stopsItself: true }),
      otherProcess({ ...common, nodeId: 'killed', ...ofKilled.hold }),
      otherProcess({ ...common, nodeId: 'survivor', ...ofSurvivor.hold }),
      otherProcess({ ...common, nodeId: 'first' }),
      otherProcess({ ...common, nodeId: 'second' }),
    ]);
    await Promise.all([zombie, killed, survivor].map((node) => node.ask({ do: 'start' })));

    // Every node has its sessions, all in the middle of a call. Others leave prompts with them.
    const woken = zombie.ask({ do: 'work', prompts: ofZombie.prompts });
    await Promise.all([
      killed.ask({ do: 'work', prompts: ofKilled.prompts }),
      survivor.ask({ do: 'work', prompts: ofSurvivor.prompts }),
      waitUntil(() => isStopped(zombie.child.pid)),
    ]);
    const promptAll = async (prompt: string, ids: readonly string[]) =>
      Promise.all(
        ids.map(async (id) => {
          const session = await front.agent.sessions.get(id);
          return session.prompt({ query: `once ${id} ${prompt}`, whenBusy: 'queue' });
        }),
      );
    const turns = await promptAll('2', sessions);
    for (const id of prepared) await front.agent.sessions.create({ sessionId: id });
    turns.push(...(await promptAll('1', prepared)), ...(await promptAll('2', prepared)));

    await killed.kill();
    const diedAt = performance.timeOrigin + performance.now();
    await Promise.all([
      survivor.ask({ do: 'release' }),
      first.ask({ do: 'start' }),
      second.ask({ do: 'start' }),
      promptAll('3', [...sessions, ...prepared]).then((more) => turns.push(...more)),
    ]);
    const orphaned = [...ofZombie.sessions, ...ofKilled.sessions];
    for (const id of orphaned) await waitUntil(async () => reignsIn(await factsOf(id)).length > 1);
    zombie.child.kill('SIGCONT');
    await woken;
    const results = await Promise.all(turns.map(({ finished }) => finished));
    expect(results.map(({ status }) => status)).toEqual(turns.map(() => 'completed'));
    for (const id of ofZombie.hold.inside) {
      await waitUntil(async () => (await factsOf(id)).some(({ type }) => type === 'LateResultReported'));
    }

    // What must not be repeated is not, and a node that wakes starts nothing that others may have.
    const effects = effectsIn(folder);
    const ran = effects
      .filter(({ contract }) => contract === 'once')
      .map((effect) => `${effect.session} ${effect.prompt}`);
    expect(ran).toEqual([...new Set(ran)]);
    const startedLate = effects.filter(
      ({ node, session, prompt }) => node === 'zombie' && prompt === '1' && ofZombie.hold.between.includes(session),
    );
    expect(startedLate).toEqual([]);
    const inTime = diedAt + 2 * TTL;
    const unknown: string[] = [];
    for (const id of [...sessions, ...prepared]) {
      await verifySession(store, { id });
      const facts = await factsOf(id);
      const of = (type: string) => facts.filter((fact) => fact.type === type);
      // One owner after the other, and no fact of an owner behind the next one.
      expect(flawsIn(facts)).toEqual([]);
      const reigns = reignsIn(facts);
      // Only nodes that live take it. On a slow machine one that dies may have taken it from one that was stopped.
      const later = reigns.filter(({ from }) => from > diedAt);
      for (const { node } of later) expect(LIVING).toContain(node);
      if (orphaned.includes(id)) expect(reigns[1]).toMatchObject({ epoch: 2, reason: 'owner-dead' });
      const owner = ownerAt(facts, inTime);
      if (owner === undefined) expect(needsNobody(facts, inTime - TTL, inTime)).toBe(true);
      else expect(LIVING).toContain(owner);
      // Every input is there, once, and every turn has ended.
      const inputs = of('PromptAccepted').map(({ payload }) => JSON.stringify(payload['parts']));
      expect(inputs).toHaveLength(3);
      for (const prompt of ['1', '2', '3']) expect(inputs.join(' ')).toContain(` ${id} ${prompt}"`);
      expect(of('RunEnded').filter(({ payload }) => payload['status'] === 'completed')).toHaveLength(3);
      // Every call has one settlement, by its owner; what its former owner learned is shown behind it.
      const settled = of('ToolCallSettled');
      const callsOf = (type: string) => of(type).map(({ payload }) => String(payload['callId']));
      expect(callsOf('ToolCallSettled').sort()).toEqual(callsOf('ToolCallDecided').sort());
      for (const late of of('LateResultReported')) {
        expect(late.payload).toMatchObject({ node: 'zombie', status: 'completed', epoch: 1 });
        const earlier = settled.find(({ payload }) => payload['callId'] === late.payload['callId']);
        expect(earlier?.revision).toBeLessThan(late.revision);
        expect(earlier?.metadata.epoch).toBeGreaterThan(1);
      }
      expect(of('LateResultReported')).toHaveLength(ofZombie.hold.inside.includes(id) ? 1 : 0);
      if (settled.some(({ payload }) => payload['status'] === 'unknown')) unknown.push(id);
    }
    // Only those are unknown that may have happened, and must not happen twice.
    const once = (of: typeof ofZombie) => of.prompts.filter(({ query }) => query.startsWith('once'));
    expect(unknown.sort()).toEqual([...once(ofZombie), ...once(ofKilled)].map(({ session }) => session).sort());
    // Nobody fell over: the stopped node lives as well.
    await Promise.all([zombie, survivor, first, second].map((node) => node.ask({ do: 'dispose' })));
    await front.runtime.dispose();
  },
  120_000 + 2_000 * SESSIONS,
);
