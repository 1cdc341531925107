import { openCalls } from './call-tree.js';
import type { FactBatch } from './fact-batch.js';
import { currentTurn } from './session-state.js';
import type { CallApproval, CallQuestion, CallState } from './call-state.js';
import type { SessionState } from './session-state.js';

/** Calls of a step, of the host and parts of both: those that people may be asked about. */
export function unsettledCalls(state: SessionState): readonly CallState[] {
  // Nobody waits for answers of a turn that was told to end.
  const isStopped = currentTurn(state)?.stop !== undefined;
  const calls = isStopped ? [...state.hostCalls, ...state.nestedCalls] : openCalls(state);
  return calls.filter(({ settled }) => settled === undefined);
}

/** Whether someone is asked and has not answered. */
export function isPending<Asked extends CallApproval | CallQuestion>(asked: Asked | undefined): asked is Asked {
  return asked !== undefined && asked.answer === undefined;
}

export function isDue({ expiresAt = Number.POSITIVE_INFINITY }: CallApproval | CallQuestion, now: number): boolean {
  return expiresAt <= now;
}

export function expireApproval(batch: FactBatch, callId: string, { argumentDigest, onExpiry }: CallApproval): void {
  const fact = { callId, argumentDigest, decision: onExpiry ?? 'deny', by: 'expiry', isExpiry: true } as const;
  batch.add('ApprovalResolved', fact, {}, { kind: 'node' });
}

export function expireQuestion(batch: FactBatch, callId: string, { argumentDigest, onExpiry }: CallQuestion): void {
  const given = onExpiry === undefined || onExpiry === 'fail' ? {} : { answers: onExpiry.answers };
  const fact = { callId, argumentDigest, by: 'expiry', isExpiry: true, ...given } as const;
  batch.add('QuestionAnswered', fact, {}, { kind: 'node' });
}
