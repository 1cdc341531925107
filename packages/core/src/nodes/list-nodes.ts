import { nodeOfLease, type RecordedFact } from '@perdure/events';
import type { EventStore, NodeInfo } from '@perdure/plugin-api';
import type { HostServices } from '../host/host-services.js';
import { ProjectionRunner } from '../project/projection-runner.js';
import { readPast } from '../project/read-past.js';
import { runnable, type RunnableRow } from '../project/runnable.js';
import { readLifeSign, type LifeSign } from '../session/life-sign.js';

/**
 * The nodes that live or still own sessions, by name. Whether one lives is known when its lease was watched for
 * its time to live at most; all are watched together.
 */
export async function listNodes(services: HostServices): Promise<readonly NodeInfo[]> {
  const signs = [...(await lifeSigns(services.store))].filter(([, { isReleased }]) => !isReleased);
  const owned = await ownedSessions(services);
  const nodes = signs.map(async ([node, { incarnation, ttlMs }]): Promise<NodeInfo> => {
    const isAlive = await services.lease.confirm(node);
    return { node, incarnation, isAlive, ttlMs, sessions: owned.get(ownerText(node, incarnation)) ?? 0 };
  });
  const all = (await Promise.all(nodes)).filter(({ isAlive, sessions }) => isAlive || sessions > 0);
  return all.sort((a, b) => (a.node < b.node ? -1 : 1));
}

/** How many sessions are owned under a node's name. */
export async function sessionsOf(services: HostServices, node: string): Promise<number> {
  let count = 0;
  for (const [owner, sessions] of await ownedSessions(services)) {
    if ((JSON.parse(owner) as readonly string[])[0] === node) count += sessions;
  }
  return count;
}

/** The last life sign of each node. */
async function lifeSigns(store: EventStore): Promise<ReadonlyMap<string, LifeSign>> {
  const signs = new Map<string, LifeSign>();
  const note = (fact: RecordedFact): void => {
    const node = nodeOfLease(fact.stream);
    const sign = readLifeSign(fact);
    if (node !== undefined && sign !== undefined) signs.set(node, sign);
  };
  for await (const { facts } of readPast(store, { all: true }, { categories: ['lease'] })) {
    for (const fact of facts) note(fact);
  }
  return signs;
}

async function ownedSessions({ store, projections, facts, logger }: HostServices): Promise<Map<string, number>> {
  const owned = new Map<string, number>();
  if (projections === undefined) return owned;
  const runner = new ProjectionRunner<RunnableRow>(runnable, store, projections, facts, logger);
  await runner.scan('', ({ owner }) => {
    if (owner === null) return;
    const text = ownerText(owner.node, owner.incarnation);
    owned.set(text, (owned.get(text) ?? 0) + 1);
  });
  return owned;
}

function ownerText(node: string, incarnation: string): string {
  return JSON.stringify([node, incarnation]);
}
