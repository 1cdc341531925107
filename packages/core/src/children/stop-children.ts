import { errorMessage } from '@perdure/plugin-api';
import { requestStop } from '../session/accept-input.js';
import type { ChildState } from '../session/child-state.js';
import { NODE } from '../turn/record-intent.js';
import type { SessionWork } from '../turn/session-work.js';

type ParentWork = Pick<SessionWork, 'key' | 'journal' | 'children'>;

/**
 * Asks for the end of sessions that were handed work, and of all below them; anyone may, whoever runs them. A child
 * that has no stream gets one that says so: whoever was about to make it finds its work stopped. One that is erased has
 * nothing to stop. Resolves when every request is durable.
 */
export async function stopChildren(
  parent: ParentWork,
  children: readonly ChildState[],
  reason: string | undefined,
): Promise<void> {
  const open = children.filter(({ ended }) => ended === undefined);
  await Promise.all(open.map((child) => stopChild(parent, child, reason)));
}

/** The same for those whose turn was stopped. */
export function stopChildrenOfTurn(parent: ParentWork, reason: string | undefined): Promise<void> {
  return stopChildren(
    parent,
    parent.journal.state.children.filter(({ isStopped }) => isStopped),
    reason,
  );
}

async function stopChild(parent: ParentWork, child: ChildState, reason: string | undefined): Promise<void> {
  const { turnId } = child.delegation;
  await parent.children.home(child, parent.key, parent.journal.state).use(async (loaded) => {
    const { work } = loaded;
    await work.journal.refresh();
    const isOpen = await loaded.accept((batch) => {
      if (batch.state.isErased) return false;
      const turn = [...batch.state.open, ...batch.state.ended].find((other) => other.turnId === turnId);
      if (turn !== undefined) return requestStop(batch, turnId, reason);
      batch.add('StopRequested', { turnId, reason: reason ?? 'stopped' }, { turnId }, NODE);
      return false;
    });
    // A stop that is there, nothing starts below any more: these are all.
    await stopChildren(work, work.journal.state.children, reason);
    // Nobody may have the child, when it waited for people.
    if (isOpen) await loaded.runIfSupplied();
  });
}

/** The work of a child that was refused before it began. */
export function refusalOf(code: 'PERDURE_PROMPT_BLOCKED', reason: string) {
  return { code, message: errorMessage(code, { reason }) };
}
