import { keyText, sessionStream, type SessionKey } from '@perdure/events';
import { PerdureError, type SessionTree } from '@perdure/plugin-api';
import { descendantsOf } from '../project/lineage.js';
import { hasEnded } from '../session/session-loader.js';
import type { HostServices } from './host-services.js';

/** A session with those that came out of it. */
export interface Branch extends Omit<SessionTree, 'id' | 'below'> {
  readonly key: SessionKey;
  readonly below: readonly Branch[];
}

/** A session and everything below it. Throws PERDURE_SESSION_NOT_FOUND. */
export async function readTree(key: SessionKey, services: HostServices): Promise<Branch> {
  const { store, facts } = services;
  const [first] = (await store.read(sessionStream(key), { limit: 1 })).facts;
  if (first === undefined) throw new PerdureError('PERDURE_SESSION_NOT_FOUND', { session: key.id });
  const { agentId = '' } = facts.read(first).payload as { readonly agentId?: string };
  return branchOf({ key, agentId, kind: null, at: null }, services, new Set());
}

/** The same for people and hosts. */
export function treeOf({ key, below, ...branch }: Branch): SessionTree {
  return { id: key.id, ...branch, below: below.map(treeOf) };
}

async function branchOf(
  branch: Omit<Branch, 'below' | 'isErased'>,
  services: HostServices,
  above: ReadonlySet<string>,
): Promise<Branch> {
  const { key } = branch;
  const isErased = await hasEnded(services.store, sessionStream(key));
  const within = new Set([...above, keyText(key)]);
  const below: Branch[] = [];
  for (const { session, ...row } of await descendantsOf(services, key)) {
    const each = { ...key, id: session };
    // A fork of a child works for the same session as the child: it is shown where it was forked.
    const isBoth = row.kind === 'child' && below.some((known) => known.key.id === session);
    if (!isBoth && !within.has(keyText(each))) below.push(await branchOf({ key: each, ...row }, services, within));
  }
  return { ...branch, isErased, below };
}
