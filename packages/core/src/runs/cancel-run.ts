import type { ActiveTool, Settlement } from '@perdure/plugin-api';
import { stopChildrenOfTurn } from '../children/stop-children.js';
import { requestStop } from '../session/accept-input.js';
import type { Journal } from '../session/journal.js';
import type { LoadedSession } from '../session/loaded-session.js';
import { activeRun, currentTurn, type SessionState } from '../session/session-state.js';

interface AskedRun {
  readonly runId: string;
  readonly turnId: string;
}

/** Asks the run that goes on to end, if it is the one that is meant. Which it is, or `undefined`. */
export function requestCancel(
  journal: Journal,
  runId: string | undefined,
  reason: string,
): Promise<AskedRun | undefined> {
  return journal.commit((batch) => {
    const turn = currentTurn(batch.state);
    // The run of a session that waits for people has ended, and its turn has not.
    const run = turn && (activeRun(turn) ?? turn.runs.at(-1));
    if (turn === undefined || run === undefined || (runId !== undefined && run.runId !== runId)) return undefined;
    requestStop(batch, turn.turnId, reason);
    return { runId: run.runId, turnId: turn.turnId };
  }, 'input');
}

/** Cancels the run that goes on and waits for its end; calls that do not end by themselves are given up in between. */
export async function cancelAndSettle(
  loaded: LoadedSession,
  graceMs: number,
  abortGraceMs: number,
): Promise<Omit<Settlement, 'status'>> {
  const asked = await requestCancel(loaded.work.journal, undefined, 'cancelled');
  if (asked === undefined) return { outcome: 'idle', runId: null };
  const { runId, turnId } = asked;
  await stopChildrenOfTurn(loaded.work, 'cancelled');
  // Nobody may have the session, when it waited for people.
  await loaded.runIfSupplied();
  const ended = loaded.finished(turnId).then(({ status }) => status !== 'suspended');
  if (await within(ended, graceMs)) return { outcome: 'settled', runId };
  loaded.giveUpCalls(turnId);
  return { outcome: (await within(ended, abortGraceMs)) ? 'aborted' : 'unsettled', runId };
}

/** Calls that are started and not settled: those of the open step, their parts, then those of the host. */
export function activeToolsOf(state: SessionState): readonly ActiveTool[] {
  return [...(currentTurn(state)?.step?.calls ?? []), ...state.nestedCalls, ...state.hostCalls].flatMap(
    ({ callId: id, name, started, settled }) =>
      started === undefined || settled !== undefined ? [] : [{ id, name, startedAt: started.at }],
  );
}

/** Whether a promise comes true in time. */
async function within(promise: Promise<boolean>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise, over]);
  } finally {
    clearTimeout(timer);
  }
}
