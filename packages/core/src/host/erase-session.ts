import { draftStream, keyText, sessionStream, type SessionKey } from '@perdure/events';
import { isPerdureError, PerdureError, type ProjectionStore } from '@perdure/plugin-api';
import { artifactUseKey, artifactUses, artifactUsesOf } from '../project/artifact-uses.js';
import { listArtifacts } from '../project/list-artifacts.js';
import type { Projection } from '../project/projection.js';
import { ProjectionRunner } from '../project/projection-runner.js';
import { runnable } from '../project/runnable.js';
import { sessionText } from '../project/session-text.js';
import { removeStateSnapshot } from '../project/state-snapshot.js';
import { requestErasure } from '../session/accept-input.js';
import type { Journal } from '../session/journal.js';
import { assertOwner, takeOwnership } from '../session/ownership.js';
import type { HostServices } from './host-services.js';
import { openJournal } from './load-session.js';
import { readTree, type Branch } from './session-tree.js';

/** Milliseconds that a turn has to come to its end; one that has not is taken from its owner. */
const GRACE_MS = 10_000;
const LOOK_MS = 50;
/** How often an eraser that met another one tries again. */
const TRIES = 20;

export interface EraseRequest {
  readonly cascade: boolean;
  readonly reason: string | undefined;
}

/**
 * Destroys what a session holds, and before it what the sessions below it hold. The request is durable first, so that
 * anybody can go on with it. Each step is durable before the next, and each may be repeated, also by two at once:
 * whoever asks again goes on where a dead process was. Returns the keys, those below first.
 */
export async function eraseSession(
  key: SessionKey,
  request: EraseRequest,
  services: HostServices,
  letGo: (key: SessionKey) => Promise<void>,
): Promise<readonly SessionKey[]> {
  const tree = await readTree(key, services);
  const forks = forksOf(tree);
  if (forks.length > 0 && !request.cascade) {
    throw new PerdureError('PERDURE_HAS_FORKS', { session: key.id, forks: forks.length });
  }
  if (!tree.isErased) await requestEnd((await openJournal(services, key)).journal, request);
  const erased: SessionKey[] = [];
  for (const branch of bottomUp(tree)) {
    const { key: each } = branch;
    if (!branch.isErased) {
      const { journal } = await openJournal(services, each);
      await endSession(journal, request, services);
      await letGo(each);
      await eraseFacts(journal, request, services);
    }
    await removeRemains(each, services);
    erased.push(each);
  }
  return erased;
}

/** Forks that are there, of the session and of those that work for it. */
function forksOf(branch: Branch): readonly Branch[] {
  return branch.below.flatMap((below) => (below.kind === 'fork' && !below.isErased ? [below] : forksOf(below)));
}

/** Those that came out of a session come before it, and each once. */
function bottomUp(branch: Branch, seen = new Set<string>()): readonly Branch[] {
  const below = branch.below.flatMap((each) => bottomUp(each, seen));
  const name = keyText(branch.key);
  if (seen.has(name)) return below;
  seen.add(name);
  return [...below, branch];
}

/** Stops what a session does and has it take nothing more. */
async function requestEnd(journal: Journal, { cascade, reason }: EraseRequest): Promise<void> {
  const fact = { cascade, ...(reason === undefined ? {} : { reason }) };
  while (!(await journal.commit((batch) => batch.state.isErased || requestErasure(batch, fact), 'input')));
}

/** Has the session's turns end, by whoever runs them. */
async function endSession(journal: Journal, request: EraseRequest, services: HostServices): Promise<void> {
  await requestEnd(journal, request);
  const end = performance.now() + GRACE_MS;
  while (journal.state.open.length > 0 && performance.now() < end) {
    const { owner } = journal.state.ownership;
    if (owner === undefined || !(await services.lease.isAlive(owner.node, owner.incarnation))) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    await journal.refresh();
  }
}

/** Appends the last fact. From then on nothing of the session is folded, and what came before it may be truncated. */
async function eraseFacts(journal: Journal, request: EraseRequest, services: HostServices): Promise<void> {
  for (let tries = 1; ; tries++) {
    await journal.refresh();
    try {
      return await takeAndErase(journal, request, services);
    } catch (error) {
      const isMet = isPerdureError(error, 'PERDURE_SESSION_OWNED') || isPerdureError(error, 'PERDURE_SESSION_FENCED');
      if (!isMet || tries === TRIES) throw error;
    }
    // Another one erases it, too.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

async function takeAndErase(journal: Journal, { reason }: EraseRequest, services: HostServices): Promise<void> {
  const { lease, env } = services;
  if (journal.state.isErased) return;
  const held = await takeOwnership(journal, lease, env, { takeOver: true, held: undefined, create: () => undefined });
  const forks = forksOf(await readTree(journal.key, services));
  // One that was made while the turns came to their end goes on from what is here.
  if (forks.length > 0) throw new PerdureError('PERDURE_HAS_FORKS', { session: journal.key.id, forks: forks.length });
  await journal.commit((batch) => {
    if (batch.state.isErased) return;
    assertOwner(batch, held, journal.key.id);
    const { agentId = '' } = batch.state.identity ?? {};
    const fact = { agentId, ...(reason === undefined ? {} : { reason }) };
    batch.add('SessionErased', fact, {}, { kind: 'node', id: env.nodeId });
  }, 'owner');
}

/** Destroys what is left of a session whose last fact is there. What leads to other things goes behind these. */
async function removeRemains(key: SessionKey, services: HostServices): Promise<void> {
  const { store, projections, snapshots } = services;
  await removeArtifacts(key, services);
  await truncateBefore(store, sessionStream(key), 0);
  await truncateBefore(store, draftStream(key), 1);
  if (projections !== undefined) {
    await removeStateSnapshot(projections, key);
    await runnerOf(sessionText, projections, services).remove(`${keyText(key)}/`);
  }
  await snapshots?.delete(keyText(key));
  // The row says that something is left to do.
  if (projections !== undefined) await runnerOf(runnable, projections, services).removeKey(keyText(key));
}

/** Destroys the artifacts that no other session of the tenant names. */
async function removeArtifacts(key: SessionKey, services: HostServices): Promise<void> {
  const { store, artifacts, projections } = services;
  if (artifacts === undefined || projections === undefined) return;
  const uses = runnerOf(artifactUses, projections, services);
  for (const { digest } of await listArtifacts(store, sessionStream(key))) {
    const users = await uses.readPrefix(artifactUsesOf(digest, key));
    const own = artifactUseKey(digest, key);
    if ([...users.keys()].every((user) => user === own)) await artifacts.delete(key.tenant, digest);
    await uses.removeKey(own);
  }
}

function runnerOf<Row>(projection: Projection<Row>, rows: ProjectionStore, services: HostServices) {
  return new ProjectionRunner(projection, services.store, rows, services.facts, services.logger);
}

/** Truncates a stream before its last fact, or behind it. */
async function truncateBefore(store: HostServices['store'], stream: string, behind: 0 | 1): Promise<void> {
  const { head } = await store.read(stream, { direction: 'backwards', limit: 1 });
  if (head !== 'none') await store.truncate(stream, head + behind);
}
