import { errorMessage } from '@perdure/plugin-api';
import { wholeOf } from '../session/call-tree.js';
import type { FactBatch } from '../session/fact-batch.js';
import type { Journal } from '../session/journal.js';
import type { CallOutcome, CallState } from '../session/call-state.js';
import { currentTurn, type SessionState } from '../session/session-state.js';
import { recordIntent, type RecordContext } from './record-intent.js';
import type { SessionWork } from './session-work.js';

/** A call of a session that no answer holds, while it or its whole is not settled. */
export function callBeside({ hostCalls, nestedCalls }: SessionState, callId: string): CallState | undefined {
  return nestedCalls.find((call) => call.callId === callId) ?? hostCalls.find((call) => call.callId === callId);
}

/** Resolves with the call when a person has answered; with nothing when the signal or another owner comes first. */
export function untilAnswered(journal: Journal, callId: string, signal: AbortSignal): Promise<CallState | undefined> {
  const { epoch } = journal.state.ownership;
  return new Promise((resolve) => {
    const end = (call?: CallState): void => {
      forget();
      signal.removeEventListener('abort', onAbort);
      resolve(call);
    };
    const look = (): void => {
      const call = callBeside(journal.state, callId);
      // Another owner may have settled it, or go on with its whole.
      const isGone = call === undefined || journal.state.ownership.epoch !== epoch;
      if (isGone) end();
      else if ((call.question ?? call.approval)?.answer !== undefined) end(call);
    };
    const onAbort = (): void => end();
    const forget = journal.onCommit(look);
    signal.addEventListener('abort', onAbort);
    if (signal.aborted) end();
    else look();
  });
}

/** What follows from a decision in the same commit: a denied call is settled, an allowed one is started. */
export function decidedIn(batch: FactBatch, callId: string, work: SessionWork): CallState | CallOutcome {
  const call = callBeside(batch.state, callId);
  if (call?.decision === undefined) return call ?? { status: 'cancelled' };
  if (call.decision.decision === 'deny') {
    const { failure } = call.decision;
    recordIntent(batch, { do: 'settle-denied', call }, sideContext(work));
    return { status: 'denied', ...(failure === undefined ? {} : { failure }) };
  }
  if (isStopped(batch.state, call)) {
    recordIntent(batch, { do: 'settle-cancelled', call }, sideContext(work));
    const code = 'PERDURE_TOOL_CANCELLED';
    return { status: 'cancelled', failure: { code, message: errorMessage(code, { tool: call.name }) } };
  }
  recordIntent(batch, { do: 'start-call', call, attempt: 1 }, sideContext(work));
  return callBeside(batch.state, callId) ?? call;
}

/** Nothing of a turn starts after its stop, its parts neither. */
export function isStopped(state: SessionState, call: CallState): boolean {
  return call.origin !== 'host' && wholeOf(state, call)?.origin !== 'host' && currentTurn(state)?.stop !== undefined;
}

/** A call that is settled leaves no part of itself open. */
export function settleParts(batch: FactBatch, callId: string, work: SessionWork): void {
  const parts = batch.state.nestedCalls.filter(({ parent, settled }) => parent === callId && settled === undefined);
  for (const call of parts) {
    settleParts(batch, call.callId, work);
    const hasNoEffect = call.started === undefined || call.started.effect === 'read';
    recordIntent(batch, { do: hasNoEffect ? 'settle-cancelled' : 'settle-unknown', call }, sideContext(work));
  }
}

/** Calls beside the turn start no runs and no steps. */
export function sideContext(work: SessionWork): RecordContext {
  const unused = (): never => {
    throw new TypeError('a call beside the turn starts no run and no step');
  };
  return {
    sessionId: work.key.id,
    plugins: [],
    newRunId: unused,
    now: () => work.env.clock.now(),
    missing: [],
    tool: unused,
    expiresAt: unused,
    compose: unused,
    applyChange: unused,
  };
}
