import { keyText } from '@perdure/events';
import { ProjectionRunner } from '../project/projection-runner.js';
import { runnable } from '../project/runnable.js';
import type { HostServices } from './host-services.js';
import { openJournal } from './load-session.js';
import type { Branch } from './session-tree.js';

/** Milliseconds that a fork has to be given up by its maker, who met the request; one that is still there stays. */
const SETTLE_MS = 1_000;
const LOOK_MS = 20;

/**
 * How many forks of a session, and of those that work for it, stay when it is erased without them. Behind the request,
 * with `isRequested`, forks that were made about the same time are given the time to go.
 */
export async function forksInTheWay(tree: Branch, services: HostServices, isRequested: boolean): Promise<number> {
  const end = performance.now() + (isRequested ? SETTLE_MS : 0);
  for (;;) {
    const forks = forksOf(tree);
    const erasing = await erasingOf(forks, services);
    const count = forks.length - erasing.size;
    if (count === 0 || performance.now() >= end) return count;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
}

/**
 * Has a session and those that work for it take input again. A request that is to take forks along stays: nothing
 * stands against it.
 */
export async function withdrawErasure(tree: Branch, services: HostServices): Promise<void> {
  const workers = withoutForks(tree);
  const erasing = await erasingOf(workers, services);
  for (const { key } of workers.filter((branch) => erasing.has(keyText(branch.key)))) {
    const { journal } = await openJournal(services, key);
    await journal.commit((batch) => {
      const { erase, isErased } = batch.state;
      if (isErased || erase === undefined || erase.cascade) return;
      batch.add('SessionRestored', { archivedAt: erase.at }, {}, { kind: 'host' });
    }, 'input');
  }
}

/** Forks that are there. What was forked from a session that is gone was given up with it. */
function forksOf(branch: Branch, isGone = branch.isErased): readonly Branch[] {
  return branch.below.flatMap((below) => {
    if (below.kind !== 'fork') return forksOf(below);
    return isGone || below.isErased ? forksOf(below, true) : [below];
  });
}

function withoutForks(branch: Branch): readonly Branch[] {
  const below = branch.below.filter(({ kind }) => kind !== 'fork').flatMap(withoutForks);
  return branch.isErased ? below : [branch, ...below];
}

/** The keys of those that are to be erased, or are gone. */
async function erasingOf(branches: readonly Branch[], services: HostServices): Promise<ReadonlySet<string>> {
  const { store, projections, facts, logger } = services;
  if (projections === undefined || branches.length === 0) return new Set();
  const names = branches.map(({ key }) => keyText(key));
  const rows = await new ProjectionRunner(runnable, store, projections, facts, logger).readKeys(names);
  // Whoever came to the end of an erasure removed the row.
  return new Set(names.filter((name) => rows.get(name)?.erasing !== null));
}
