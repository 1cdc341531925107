import type { DrainReport } from '@perdure/plugin-api';
import { addEvent } from './emit-event.js';
import type { LoadedSession } from './loaded-session.js';
import { isUnderWay } from './passivation.js';

/** What a session was doing when it left. */
export type Leaving = keyof DrainReport;

/**
 * Has a session leave this node, which has it, at the end of its step or at the deadline, a time of the world in epoch
 * milliseconds. What it was doing then.
 */
export async function leaveNode(loaded: LoadedSession, reason: string, deadlineMs: number): Promise<Leaving> {
  const { journal } = loaded.work;
  const isAtWork = (): boolean => loaded.isOwner && isUnderWay(journal.state);
  const wasAtWork = isAtWork();
  await journal.commit((batch) => {
    addEvent(batch, { type: 'passivation_requested', reason, deadline_ms: deadlineMs }, deadlineMs);
  }, 'input');
  const left = hasLeft(loaded);
  await Promise.race([loaded.besideTurns.passivation.due, left]);
  const isCut = isAtWork();
  await left;
  return isCut ? 'cut' : wasAtWork ? 'handedOver' : 'idle';
}

/** Resolves when this process does not have the session any more, whatever became of it. */
function hasLeft(loaded: LoadedSession): Promise<void> {
  return new Promise((resolve) => {
    const { work, over } = loaded;
    const look = (): void => {
      if (!loaded.isOwner || over.aborted) end();
    };
    const endListening = work.journal.onCommit(look);
    const end = (): void => {
      endListening();
      over.removeEventListener('abort', end);
      resolve();
    };
    over.addEventListener('abort', end);
    look();
  });
}
