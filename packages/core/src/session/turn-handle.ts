import type { TurnHandle } from '@perdure/plugin-api';
import { requestStop, type AcceptedPrompt } from './accept-input.js';
import type { LoadedSession } from './loaded-session.js';
import { checkReason } from './session-input.js';

/** What a caller holds of a turn. */
export function turnHandle(loaded: LoadedSession, { promptId, turnId }: AcceptedPrompt): TurnHandle {
  return {
    id: turnId,
    promptId,
    finished: loaded.finished(turnId),
    stop: async (reason) => {
      checkReason(reason);
      const stopped = await loaded.work.journal.commit((batch) => requestStop(batch, turnId, reason), 'input');
      return { stopped, turnId: stopped ? turnId : null };
    },
  };
}
