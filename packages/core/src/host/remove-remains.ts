import { draftStream, keyText, sessionStream, type SessionKey } from '@perdure/events';
import { artifactUseKey, artifactUses, artifactUsesOf } from '../project/artifact-uses.js';
import { listOwnArtifacts } from '../project/list-artifacts.js';
import type { Projection } from '../project/projection.js';
import { ProjectionRunner } from '../project/projection-runner.js';
import { runnable } from '../project/runnable.js';
import { sessionText } from '../project/session-text.js';
import { removeStateSnapshot } from '../project/state-snapshot.js';
import type { ProjectionStore } from '@perdure/plugin-api';
import type { HostServices } from './host-services.js';

/** Destroys what is left of a session whose last fact is there. What leads to other things goes behind these. */
export async function removeRemains(key: SessionKey, services: HostServices): Promise<void> {
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
  for (const { digest } of await listOwnArtifacts(store, sessionStream(key))) {
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
