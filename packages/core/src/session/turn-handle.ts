import type { TurnHandle } from '@perdure/plugin-api';
import type { RanCommand } from '../commands/run-command.js';
import { requestStop, type AcceptedPrompt } from './accept-input.js';
import type { LoadedSession } from './loaded-session.js';
import { checkReason } from './session-input.js';

/** What a caller holds of a turn. */
export function turnHandle(loaded: LoadedSession, { promptId, turnId, isKnown }: AcceptedPrompt): TurnHandle {
  return {
    id: turnId,
    promptId,
    replayed: isKnown,
    finished: loaded.finished(turnId),
    stop: async (reason) => {
      checkReason(reason);
      const stopped = await loaded.work.journal.commit((batch) => requestStop(batch, turnId, reason), 'input');
      return { stopped, turnId: stopped ? turnId : null };
    },
  };
}

/** The same of a command, which has ended. */
export function commandHandle({ commandId, promptId, isKnown, result }: RanCommand): TurnHandle {
  return {
    id: commandId,
    promptId,
    replayed: isKnown,
    finished: Promise.resolve(result),
    stop: (reason) => {
      checkReason(reason);
      return Promise.resolve({ stopped: false, turnId: null });
    },
  };
}
