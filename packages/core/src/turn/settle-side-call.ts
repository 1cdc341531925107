import { errorMessage, isPerdureError, type ErrorCode } from '@perdure/plugin-api';
import type { CallOutcome } from '../session/call-state.js';
import { draftFact, type FactBatch } from '../session/fact-batch.js';
import { assertOwner } from '../session/ownership.js';
import { NODE } from './record-intent.js';
import { reportLate } from './report-late.js';
import type { CallSite, SideCall } from './side-call.js';
import { callBeside, settleParts } from './side-call-state.js';

/** What a call came to, as its process tells it. */
type Settled = Omit<CallOutcome, 'failure'> & {
  readonly failure?: CallOutcome['failure'] | undefined;
  readonly startedAt?: number;
  readonly endedAt?: number;
};

/** Settles a call beside the turn, unless it is settled; then what it came to is told as late. */
export async function settle(
  { callId }: Pick<SideCall, 'callId'>,
  outcome: Settled,
  site: CallSite,
): Promise<CallOutcome> {
  const { work } = site;
  const { failure, endedAt = work.env.clock.now(), ...rest } = outcome;
  const payload = { ...rest, callId, ...(failure === undefined ? {} : { failure }), endedAt };
  const settled = draftFact('ToolCallSettled', payload, ...factPlace(site));
  try {
    const isFirst = await owned(site, (batch) => {
      const open = callBeside(batch.state, callId);
      // Its whole was given up, and the call with it.
      if (open === undefined || open.settled !== undefined) return false;
      settleParts(batch, callId, work);
      batch.keep(settled);
      return true;
    });
    if (!isFirst) await reportLate(work, site.held, settled.payload);
  } catch (error) {
    if (isPerdureError(error, 'PERDURE_SESSION_FENCED')) await reportLate(work, site.held, settled.payload);
    throw error;
  }
  return settled.payload;
}

/** The end of the turn, of the whole or of the session came before the call was started. */
export async function broken(
  request: Pick<SideCall, 'callId' | 'name' | 'origin'>,
  site: CallSite,
): Promise<CallOutcome> {
  const outcome = { status: 'cancelled' as const, failure: failureOf('PERDURE_TOOL_CANCELLED', request.name) };
  const isOpen = callBeside(site.work.journal.state, request.callId) !== undefined;
  if (!isOpen || (request.origin === 'nested' && site.isHandingOver())) return outcome;
  return settle(request, outcome, site);
}

/** Commits what this owner decides. */
export function owned<Result>({ work, held }: CallSite, decideOn: (batch: FactBatch) => Result): Promise<Result> {
  return work.journal.commit((batch) => {
    assertOwner(batch, held, work.key.id);
    return decideOn(batch);
  }, 'owner');
}

/** What every fact of a side call is made with behind its payload. */
export function factPlace({ work, held, context: { turnId, runId, stepId } }: CallSite) {
  return [{ turnId, runId, stepId }, NODE, held.epoch, work.batchContext] as const;
}

export function unknownOutcome({ name }: { readonly name: string }): CallOutcome {
  return { status: 'unknown', failure: failureOf('PERDURE_TOOL_UNKNOWN_OUTCOME', name) };
}

export function failureOf(code: ErrorCode, tool: string): NonNullable<CallOutcome['failure']> {
  return { code, message: errorMessage(code, { tool }) };
}
