import type { TurnHandle, TurnResult } from '@perdure/plugin-api';
import { stopChildrenOfTurn } from '../children/stop-children.js';
import type { RanCommand } from '../commands/run-command.js';
import { requestStop, type AcceptedPrompt } from './accept-input.js';
import type { SessionHome } from './session-home.js';
import { checkReason } from './session-input.js';

/** What a caller holds of a turn. It does not hold the session in memory. */
export function turnHandle(
  home: SessionHome,
  { promptId, turnId, isKnown }: AcceptedPrompt,
  finished: Promise<TurnResult>,
): TurnHandle {
  return {
    id: turnId,
    promptId,
    replayed: isKnown,
    finished,
    stop: async (reason) => {
      checkReason(reason);
      const stopped = await home.use(async (loaded) => {
        const isOpen = await loaded.work.journal.commit((batch) => requestStop(batch, turnId, reason), 'input');
        if (isOpen) await stopChildrenOfTurn(loaded.work, reason);
        if (isOpen) await loaded.runIfSupplied();
        return isOpen;
      });
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
