import { isPerdureError, PerdureError, type ResumeOptions, type TurnResult } from '@perdure/plugin-api';
import type { LoadedSession } from './loaded-session.js';
import { refuseArchived } from './refuse-archived.js';

/**
 * Goes on with the turn of a run, once: when it goes on already, here or elsewhere, `finished` is its end. Throws
 * PERDURE_RUN_NOT_FOUND, PERDURE_SESSION_ARCHIVED, and PERDURE_SESSION_OWNED while its owner lives.
 */
export async function resumeRun(
  loaded: LoadedSession,
  runId: string,
  options: ResumeOptions,
): Promise<{ readonly finished: Promise<TurnResult> }> {
  const { journal } = loaded.work;
  await journal.refresh();
  refuseArchived(journal.state, journal.key.id);
  const turnId = loaded.index.turnOfRunId(runId);
  if (turnId === undefined) throw new PerdureError('PERDURE_RUN_NOT_FOUND', { run: runId });
  const isGoingOnElsewhere = (): boolean => {
    const run = loaded.index.openTurn(turnId)?.runs.at(-1);
    // Another run of the turn, or an owner that came after this one: the run has, or will have, its successor.
    return run === undefined || run.runId !== runId || (journal.state.ownership.epoch > run.epoch && !loaded.isOwner);
  };
  if (!isGoingOnElsewhere()) {
    try {
      await loaded.run({ ...options, insist: true });
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_SESSION_OWNED')) throw error;
      await journal.refresh();
      if (!isGoingOnElsewhere()) throw error;
    }
  }
  return { finished: loaded.finished(turnId) };
}
