import { isPerdureError } from '@perdure/plugin-api';
import type { ChildState } from '../session/child-state.js';
import type { LoadedSession } from '../session/loaded-session.js';
import { promptAfterHooks } from '../session/prompt-hooks.js';
import type { SessionWork } from '../turn/session-work.js';
import { workIdsOf } from './child-ids.js';
import { refusalOf } from './stop-children.js';

/**
 * Makes a child session with its work, in one append, and has it run. One that is there is adopted as it is: its work
 * goes on, has ended, or was stopped before it came. One that was erased stays so.
 */
export async function launchChild(
  child: ChildState,
  prompt: string,
  { key, journal, children, logger }: SessionWork,
): Promise<void> {
  await children.home(child, key, journal.state).use(async (loaded) => {
    await loaded.work.journal.refresh();
    if (isGone(loaded)) return;
    if (!hasWork(loaded, child)) await bringWork(loaded, child, prompt, key.id);
    try {
      await loaded.run({ insist: false });
    } catch (error) {
      // Its work is durable, and whoever can do it does.
      if (!isPerdureError(error)) throw error;
      logger.log('warn', 'A child session could not be run here.', { session: child.childId, reason: error.message });
    }
  });
}

async function bringWork(loaded: LoadedSession, child: ChildState, prompt: string, parent: string): Promise<void> {
  const { turnId, promptId } = workIdsOf(child.childId);
  const given = { parts: [{ type: 'text' as const, text: prompt }], promptId, runId: undefined };
  try {
    const { parts } = await promptAfterHooks({ ...given, whenBusy: 'queue' }, loaded);
    await loaded.accept((batch) => {
      if (hasWork(loaded, child) || isGone(loaded)) return;
      const fact = { promptId, turnId, messageId: promptId, mode: 'turn' as const, parts: [...parts] };
      batch.add('PromptAccepted', fact, { turnId }, { kind: 'model', id: parent });
    });
  } catch (error) {
    if (!isPerdureError(error, 'PERDURE_PROMPT_BLOCKED')) throw error;
    const failure = refusalOf('PERDURE_PROMPT_BLOCKED', String(error.data['reason']));
    await loaded.accept((batch) => {
      if (!hasWork(loaded, child) && !isGone(loaded))
        batch.add('StopRequested', { turnId, failure }, { turnId }, { kind: 'node' });
    });
  }
}

/** Whether it is erased, or on its way to be. */
function isGone({ work: { journal } }: LoadedSession): boolean {
  return journal.state.isErased || journal.state.erase !== undefined;
}

/** Whether the child's work has come, or its end has. */
function hasWork({ index }: LoadedSession, { delegation: { turnId } }: ChildState): boolean {
  return index.turn(turnId) !== undefined;
}
