import type { EffectContract, Failure, FinishReason, RunStatus } from '@perdure/events';
import { errorMessage } from '@perdure/plugin-api';
import type { DecidedCompaction } from '../compose/compaction-planner.js';
import { wholeOf } from '../session/call-tree.js';
import type { CallState } from '../session/call-state.js';
import { activeRun, currentTurn, type OpenStep, type OpenTurn, type PendingChange } from '../session/session-state.js';
import type { SessionState } from '../session/session-state.js';
import { limitMet, type TurnLimits } from './turn-limits.js';

/** Changes whenever the same inputs would lead to other facts. Runs of another version are not compared by replay. */
export const DECIDER_VERSION = 2;

/** What this process knows of calls beside the facts. */
export interface ProcessView {
  /** Calls that it runs at the moment. */
  readonly underWay: { has(callId: string): boolean };
  /** Calls of which their tool said that they did not happen and can no longer happen by their key. */
  readonly voided: { has(callId: string): boolean };
}

/**
 * How the conversation is made shorter before the next model call: for the threshold when the request, with the
 * messages at the places that join, would reach it; for an overflow in any case. `undefined` when there is nothing to.
 */
export type PlanCompaction = (
  state: SessionState,
  reason: 'threshold' | 'overflow',
  joining: readonly number[],
) => DecidedCompaction | undefined;

const NEVER: PlanCompaction = () => undefined;

/**
 * What the owner of a session does next: append a fact, or have an effect whose outcome is an input to the next
 * decision.
 */
export type Intent = FactIntent | EffectIntent | { readonly do: 'rest' };

export type FactIntent =
  | { readonly do: 'start-run'; readonly turn: OpenTurn }
  | { readonly do: 'hand-over'; readonly turn: OpenTurn }
  | { readonly do: 'end-run'; readonly turn: OpenTurn; readonly status: RunStatus; readonly failure?: Failure }
  | { readonly do: 'apply-change'; readonly change: PendingChange }
  | { readonly do: 'start-step'; readonly turn: OpenTurn; readonly joined: readonly string[] }
  | { readonly do: 'start-call'; readonly call: CallState; readonly attempt: number }
  | { readonly do: 'ask-questions'; readonly call: CallState }
  | { readonly do: 'settle-answered'; readonly call: CallState }
  | { readonly do: 'settle-denied'; readonly call: CallState }
  | { readonly do: 'settle-cancelled'; readonly call: CallState }
  | { readonly do: 'settle-unknown'; readonly call: CallState }
  | { readonly do: 'checkpoint-step'; readonly turn: OpenTurn; readonly step: OpenStep };

export type EffectIntent =
  | { readonly do: 'ask-model'; readonly turn: OpenTurn; readonly step: OpenStep; readonly attempt: number }
  /** A call whose gates have not answered. It is a fact when all of them are rules, else an effect. */
  | { readonly do: 'decide-call'; readonly turn: OpenTurn; readonly step: OpenStep; readonly call: CallState }
  /** Calls that are started and not settled: the executor runs those that do not run yet, and waits. */
  | { readonly do: 'run-calls'; readonly turn: OpenTurn; readonly calls: readonly CallState[] }
  | { readonly do: 'reconcile-call'; readonly call: CallState }
  /** A run of an earlier owner ends; what it had drafted of an answer becomes a fact. */
  | { readonly do: 'recover-run'; readonly turn: OpenTurn; readonly runId: string }
  | { readonly do: 'compact'; readonly change: PendingChange }
  /** The next request would be too long, or was: the conversation is compacted before anything is asked. */
  | { readonly do: 'make-room'; readonly turn: OpenTurn; readonly plan: DecidedCompaction };

/**
 * The next intent of a session that this node owns. A pure function of the fold: what a resumed session does and what
 * an undisturbed one does is decided here and nowhere else. A call that was started by an earlier owner and is not
 * settled was left behind.
 */
export function nextIntent(
  state: SessionState,
  limits: TurnLimits,
  process: ProcessView,
  compaction: PlanCompaction = NEVER,
): Intent {
  const orphan = orphanOf(state, process);
  if (orphan !== undefined) return { do: hasNoEffect(orphan) ? 'settle-cancelled' : 'settle-unknown', call: orphan };
  const turn = currentTurn(state);
  const isLeaving = state.ownership.passivation !== undefined;
  if (turn === undefined) return (isLeaving ? undefined : betweenSteps(state)) ?? { do: 'rest' };
  const run = activeRun(turn);
  if (run !== undefined && run.epoch !== state.ownership.epoch) return { do: 'recover-run', turn, runId: run.runId };
  if (run === undefined) return isLeaving ? { do: 'rest' } : { do: 'start-run', turn };
  if (isLeaving && turn.step === undefined && turn.stop === undefined) return { do: 'hand-over', turn };
  if (turn.step === undefined) return atBoundary(state, turn, limits, compaction);
  return inStep(state, turn, turn.step, limits, process, compaction);
}

/**
 * A call of which whoever made it is gone with its process: nobody would learn the outcome of another run. The parts of
 * a call come before it, unless it is run again and asks for them again.
 */
function orphanOf(state: SessionState, process: ProcessView): CallState | undefined {
  const { hostCalls, nestedCalls, ownership } = state;
  if (hostCalls.length === 0 && nestedCalls.length === 0) return undefined;
  const isLeft = (call: CallState): boolean => call.madeIn !== ownership.epoch && !process.underWay.has(call.callId);
  const part = nestedCalls.findLast((call) => {
    const whole = wholeOf(state, call);
    const isOver =
      whole === undefined || (whole.origin === 'host' ? isLeft(whole) : isAbandoned(state, whole, process));
    return call.settled === undefined && isOver;
  });
  return part ?? hostCalls.find(isLeft);
}

/** Whether a call was left behind by an earlier owner and will not be run again as it is. */
function isAbandoned({ open, ownership }: SessionState, call: CallState, process: ProcessView): boolean {
  const { started } = call;
  if (started === undefined || started.epoch === ownership.epoch || process.underWay.has(call.callId)) return false;
  return open[0]?.stop !== undefined || !(started.effect === 'read' || started.effect === 'idempotent');
}

function hasNoEffect({ started }: CallState): boolean {
  return started === undefined || started.effect === 'read';
}

function betweenSteps(state: SessionState): Intent | undefined {
  const change = state.changes[0];
  if (change === undefined) return undefined;
  return change.change.kind === 'compact' ? { do: 'compact', change } : { do: 'apply-change', change };
}

function atBoundary(state: SessionState, turn: OpenTurn, limits: TurnLimits, compaction: PlanCompaction): Intent {
  if (turn.stop !== undefined) return stopped(turn, turn.stop);
  const waiting = [...state.notices, ...turn.waiting];
  const joined = waiting.map(({ id }) => id);
  if (turn.concluded !== undefined && joined.length === 0) {
    const failure = finishFailure(turn.concluded);
    return failure === undefined
      ? { do: 'end-run', turn, status: 'completed' }
      : { do: 'end-run', turn, status: 'failed', failure };
  }
  const change = betweenSteps(state);
  if (change !== undefined) return change;
  const failure = limitMet(state, turn, limits);
  if (failure !== undefined) return { do: 'end-run', turn, status: 'failed', failure };
  const reason = turn.overflow === 'pending' ? 'overflow' : 'threshold';
  const joining = waiting.map(({ message }) => message);
  const plan = compaction(state, reason, joining);
  return plan === undefined ? { do: 'start-step', turn, joined } : { do: 'make-room', turn, plan };
}

/** A stop that somebody wanted cancels the turn; one at a limit fails it. */
function stopped(turn: OpenTurn, { failure }: NonNullable<OpenTurn['stop']>): FactIntent {
  if (failure === undefined) return { do: 'end-run', turn, status: 'cancelled' };
  return { do: 'end-run', turn, status: 'failed', failure };
}

/** An answer that was cut is kept and shown, and never passed off as a success. */
export function finishFailure(finish: FinishReason): Failure | undefined {
  switch (finish.unified) {
    case 'length':
      return { code: 'PERDURE_ANSWER_TRUNCATED', message: errorMessage('PERDURE_ANSWER_TRUNCATED', {}) };
    case 'content-filter':
      return { code: 'PERDURE_ANSWER_FILTERED', message: errorMessage('PERDURE_ANSWER_FILTERED', {}) };
    case 'error':
      return { code: 'PERDURE_MODEL_PROTOCOL', message: errorMessage('PERDURE_MODEL_PROTOCOL', {}) };
    default:
      return undefined;
  }
}

function inStep(
  state: SessionState,
  turn: OpenTurn,
  step: OpenStep,
  limits: TurnLimits,
  process: ProcessView,
  compaction: PlanCompaction,
): Intent {
  if (step.answer === undefined) return unanswered(state, turn, step, limits, compaction);
  const unsettled = step.calls.filter((call) => call.settled === undefined);
  if (unsettled.length === 0) return { do: 'checkpoint-step', turn, step };
  const denied = unsettled.find((call) => call.decision?.decision === 'deny');
  if (denied !== undefined) return { do: 'settle-denied', call: denied };
  if (turn.stop !== undefined) {
    const unstarted = unsettled.find((call) => call.started === undefined);
    if (unstarted !== undefined) return { do: 'settle-cancelled', call: unstarted };
  }
  const open = unsettled.filter(({ decision }) => decision === undefined);
  // All gates are asked before anyone is, so that requests are shown together.
  const undecided =
    open.find(({ approval }) => approval === undefined) ?? open.find(({ approval }) => approval?.answer);
  if (undecided !== undefined) return { do: 'decide-call', turn, step, call: undecided };
  const asking = questionIntent(unsettled);
  if (asking !== undefined) return asking;
  if (open.length > 0) return { do: 'rest' };
  for (const call of unsettled) {
    if (call.started === undefined || call.started.epoch === state.ownership.epoch || process.underWay.has(call.callId))
      continue;
    return leftBehind(call, call.started.effect, call.started.attempt, turn, process);
  }
  const isTogether = isParallel(step);
  // A call that waits for a person holds up those behind it, unless they may run together.
  const next = unsettled.find((call) => call.started === undefined && !(isTogether && call.question !== undefined));
  const running = unsettled.filter((call) => call.started !== undefined);
  if (next !== undefined && (running.length === 0 || isTogether)) {
    return next.question === undefined ? { do: 'start-call', call: next, attempt: 1 } : { do: 'rest' };
  }
  return running.length === 0 ? { do: 'rest' } : { do: 'run-calls', turn, calls: running };
}

/** Questions are asked as soon as the gates let them through, and an answer counts as soon as it is there. */
function questionIntent(unsettled: readonly CallState[]): FactIntent | undefined {
  const unasked = unsettled.find(({ decision, question }) => decision?.hasQuestions && question === undefined);
  if (unasked !== undefined) return { do: 'ask-questions', call: unasked };
  const answered = unsettled.find(({ question }) => question?.answer !== undefined);
  return answered && { do: 'settle-answered', call: answered };
}

/**
 * Whether all that is left of the turn's step is what people are asked, whoever runs the turn. Prompts and changes that
 * came meanwhile wait for the next step, and do not make it go on.
 */
export function waitsForPeople(state: SessionState): boolean {
  const turn = currentTurn(state);
  if (turn?.step?.answer === undefined || state.hostCalls.length > 0) return false;
  const none = { has: () => false };
  const limits = { maxSteps: 0, maxModelAttempts: 0, maxRepeatedCalls: 0, maxParseFailures: 0 };
  return inStep(state, turn, turn.step, limits, { underWay: none, voided: none }, NEVER).do === 'rest';
}

function unanswered(
  state: SessionState,
  turn: OpenTurn,
  step: OpenStep,
  limits: TurnLimits,
  compaction: PlanCompaction,
): Intent {
  if (turn.stop !== undefined) return stopped(turn, turn.stop);
  const failed = step.lastFailure;
  const plan = failed !== undefined && turn.overflow === 'pending' ? compaction(state, 'overflow', []) : undefined;
  if (plan !== undefined) return { do: 'make-room', turn, plan };
  if (failed !== undefined && (!failed.retryable || step.failures >= limits.maxModelAttempts)) {
    return { do: 'end-run', turn, status: 'failed', failure: failed.failure };
  }
  return { do: 'ask-model', turn, step, attempt: step.failures + 1 };
}

/** By its effect contract: what may be done with a call that a dead owner started. */
function leftBehind(
  call: CallState,
  effect: EffectContract,
  attempt: number,
  turn: OpenTurn,
  process: ProcessView,
): Intent {
  if (turn.stop !== undefined) return { do: effect === 'read' ? 'settle-cancelled' : 'settle-unknown', call };
  switch (effect) {
    case 'read':
    case 'idempotent':
      return { do: 'start-call', call, attempt: attempt + 1 };
    case 'reconcile':
      if (process.voided.has(call.callId)) return { do: 'start-call', call, attempt: attempt + 1 };
      return { do: 'reconcile-call', call };
    case 'once':
      return { do: 'settle-unknown', call };
  }
}

/** Calls run together when all of their answer only read; else one after the other, in the model's order. */
export function isParallel(step: OpenStep): boolean {
  return step.calls.every(({ decision }) => decision?.decision === 'deny' || decision?.effect === 'read');
}

/** Whether an intent is a fact, with nothing to wait for. */
export function isFactIntent(intent: Intent): intent is FactIntent {
  switch (intent.do) {
    case 'rest':
    case 'ask-model':
    case 'decide-call':
    case 'run-calls':
    case 'reconcile-call':
    case 'recover-run':
    case 'compact':
    case 'make-room':
      return false;
    default:
      return true;
  }
}
