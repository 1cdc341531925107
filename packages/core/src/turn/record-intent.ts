import type { ActivePlugin, Actor, JsonValue, PayloadOf } from '@perdure/events';
import { errorMessage, isPerdureError } from '@perdure/plugin-api';
import type { ComposedStep } from '../compose/composer.js';
import type { BoundTool } from '../compose/tool-set.js';
import { isSamePlugins } from '../host/same-plugins.js';
import type { AgentView } from '../host/agent-view.js';
import type { CallDecision } from '../invoke/decide-call.js';
import { answeredOutcome, questionsOf } from '../invoke/questions.js';
import { idempotencyKeyOf } from '../invoke/call-id.js';
import type { FactBatch, FactScope } from '../session/fact-batch.js';
import type { CallState } from '../session/call-state.js';
import { activeRun, currentTurn, type OpenTurn } from '../session/session-state.js';
import { DECIDER_VERSION, type FactIntent } from './decider.js';

/**
 * What turning an intent into a fact needs beside the state. Replay answers from the record where the owner asks
 * around.
 */
export interface RecordContext {
  readonly sessionId: string;
  readonly plugins: readonly ActivePlugin[];
  readonly newRunId: () => string;
  readonly now: () => number;
  /** What the node that resumes does not have and was told to go without. */
  readonly missing: readonly { readonly kind: string; readonly id: string }[];
  readonly tool: (name: string) => BoundTool | undefined;
  /** When something ends that is asked at this moment. */
  readonly expiresAt: (expiresInMs: number) => number;
  readonly compose: (joining: readonly number[]) => ComposedStep;
  readonly applyChange: (batch: FactBatch, change: Extract<FactIntent, { do: 'apply-change' }>['change']) => void;
}

export const NODE: Actor = { kind: 'node' };

/** Adds the facts of an intent to a batch. */
export function recordIntent(batch: FactBatch, intent: FactIntent, context: RecordContext): void {
  switch (intent.do) {
    case 'start-run':
      return startRun(batch, intent.turn, context);
    case 'end-run':
      return endRun(batch, intent);
    case 'hand-over':
      return handOver(batch);
    case 'apply-change':
      return context.applyChange(batch, intent.change);
    case 'start-step':
      return startStep(batch, intent, context);
    case 'checkpoint-step': {
      const { stepId, index, answer } = intent.step;
      if (answer === undefined) return undefined;
      return batch.add('StepCheckpointed', { stepId, index, usage: answer.usage }, scopeOf(batch), NODE);
    }
    case 'start-call':
      return startCall(batch, intent.call, intent.attempt);
    case 'ask-questions':
      return askQuestions(batch, intent.call, context);
    case 'settle-answered':
      return settleUnstarted(batch, intent.call, answeredOutcome(intent.call), context);
    case 'settle-denied': {
      const failure = intent.call.decision?.failure;
      const payload = { callId: intent.call.callId, status: 'denied' as const, endedAt: context.now() };
      return batch.add('ToolCallSettled', { ...payload, ...(failure && { failure }) }, scopeOf(batch), NODE);
    }
    case 'settle-cancelled':
      return settleUnrun(batch, intent.call, 'cancelled', 'PERDURE_TOOL_CANCELLED', context);
    case 'settle-unknown':
      return settleUnrun(batch, intent.call, 'unknown', 'PERDURE_TOOL_UNKNOWN_OUTCOME', context);
  }
}

/**
 * The same; a step that cannot be put together ends its turn, because it would fail again the same way.
 */
export function recordIntentOrEnd(batch: FactBatch, intent: FactIntent, context: RecordContext): void {
  try {
    recordIntent(batch, intent, context);
  } catch (error) {
    if (intent.do !== 'start-step' || !isPerdureError(error)) throw error;
    const failure = { code: error.code, message: error.message };
    recordIntent(batch, { do: 'end-run', turn: intent.turn, status: 'failed', failure }, context);
  }
}

/** Adds what the gates said of a call: a decision, or that a person is asked. */
export function recordDecision(
  batch: FactBatch,
  call: CallState,
  decision: CallDecision,
  agent: AgentView,
  now: () => number,
): void {
  const request = approvalPayload(call, decision, agent, now);
  if (request !== undefined) return batch.add('ApprovalRequested', request, scopeOf(batch), NODE);
  return batch.add('ToolCallDecided', decisionPayload(call, decision, agent.policy), scopeOf(batch), NODE);
}

/** What a person is asked about a call, when the gates leave it to one. */
export function approvalPayload(
  call: CallState,
  { effect, argumentDigest, gates, asks, input: rewritten }: CallDecision,
  { parts, policy }: AgentView,
  now: () => number,
): PayloadOf<'ApprovalRequested'> | undefined {
  if (asks === undefined) return undefined;
  const { expiresInMs, onExpiry } = parts.approval ?? {};
  const expiry = {
    ...(expiresInMs === undefined ? {} : { expiresAt: now() + expiresInMs }),
    ...(onExpiry === undefined ? {} : { onExpiry }),
  };
  const input = rewritten ?? call.input ?? {};
  const { callId, name, origin, parent } = call;
  const maker = origin === 'model' ? {} : { origin, ...(parent === undefined ? {} : { parent }) };
  const about = { callId, name, ...maker, input, effect, argumentDigest };
  return { ...about, gates: [...gates], policy, ...expiry, ...asks };
}

export function decisionPayload(call: CallState, decision: CallDecision, policy: string) {
  return {
    callId: call.callId,
    name: call.name,
    origin: call.origin,
    ...(call.parent === undefined ? {} : { parent: call.parent }),
    ...inputOf(call, decision),
    decision: decision.decision === 'allow' ? ('allow' as const) : ('deny' as const),
    gates: [...decision.gates],
    policy,
    effect: decision.effect,
    argumentDigest: decision.argumentDigest,
    ...(decision.hasQuestions === undefined ? {} : { hasQuestions: decision.hasQuestions }),
  };
}

/** A model's arguments are in its answer; a decision holds those of other calls, and those that a gate rewrote. */
function inputOf(call: CallState, { input }: CallDecision): { readonly input?: JsonValue } {
  if (input !== undefined) return { input };
  return call.origin === 'model' ? {} : { input: call.input ?? {} };
}

/** The turn, run and step that are going on. */
export function scopeOf(batch: FactBatch): FactScope {
  const turn = currentTurn(batch.state);
  return { turnId: turn?.turnId, runId: turn && activeRun(turn)?.runId, stepId: turn?.step?.stepId };
}

function startRun(batch: FactBatch, turn: OpenTurn, context: RecordContext): void {
  const { plugins } = batch.state;
  if (plugins === undefined || !isSamePlugins(plugins, context.plugins)) {
    batch.add('PluginSetChanged', { plugins: [...context.plugins] }, { turnId: turn.turnId }, NODE);
  }
  const previous = turn.runs.at(-1)?.runId;
  const chosen = previous === undefined ? turn.chosen?.runId : undefined;
  const runId = chosen ?? context.newRunId();
  const fact = {
    runId,
    turnId: turn.turnId,
    deciderVersion: DECIDER_VERSION,
    ...(previous === undefined ? {} : { resumedFrom: previous }),
    ...(previous === undefined || context.missing.length === 0 ? {} : { without: [...context.missing] }),
  };
  batch.add('RunStarted', fact, { turnId: turn.turnId, runId }, NODE);
}

function endRun(batch: FactBatch, intent: Extract<FactIntent, { do: 'end-run' }>): void {
  const { turn, status, failure } = intent;
  const scope = scopeOf(batch);
  const runId = scope.runId ?? '';
  const fact = {
    runId,
    turnId: turn.turnId,
    status,
    steps: turn.steps,
    usage: turn.usage,
    ...(failure && { failure }),
  };
  batch.add('RunEnded', fact, scope, NODE);
}

/** The run ends here and its turn goes on elsewhere. */
export function handOver(batch: FactBatch): void {
  const turn = currentTurn(batch.state);
  const run = turn && activeRun(turn);
  if (turn === undefined || run === undefined || run.epoch !== batch.state.ownership.epoch) return;
  const { runId } = run;
  const { turnId, steps, usage } = turn;
  batch.add('RunEnded', { runId, turnId, status: 'handed-over', steps, usage }, scopeOf(batch), NODE);
}

function startStep(batch: FactBatch, intent: Extract<FactIntent, { do: 'start-step' }>, context: RecordContext): void {
  const { turn, joined } = intent;
  const waiting = [...batch.state.notices, ...turn.waiting];
  const { view, setup } = context.compose(waiting.map(({ message }) => message));
  const stepId = `${turn.turnId}.${turn.steps}`;
  const fact = { stepId, index: turn.steps, joined: [...joined], view, ...(setup && { setup }) };
  batch.add('StepStarted', fact, { ...scopeOf(batch), stepId }, NODE);
}

function startCall(batch: FactBatch, call: CallState, attempt: number): void {
  const { started, decision } = call;
  const effect = started?.effect ?? decision?.effect ?? 'once';
  // Only a call whose earlier key can no longer take effect gets another key; every other repeat must be known as one.
  const isNewKey = started === undefined || effect === 'reconcile';
  const key = isNewKey ? idempotencyKeyOf(call.callId, attempt) : started.idempotencyKey;
  const argumentDigest = decision?.argumentDigest ?? '';
  const fact = { callId: call.callId, attempt, origin: call.origin, effect, idempotencyKey: key, argumentDigest };
  batch.add('ToolCallStarted', fact, scopeOf(batch), NODE);
}

/** Asks people, or settles a call that cannot. */
function askQuestions(batch: FactBatch, call: CallState, context: RecordContext): void {
  const asked = questionsOf(call, context.tool(call.name), context.expiresAt);
  if (!('failure' in asked)) return batch.add('QuestionAsked', asked, scopeOf(batch), NODE);
  return settleUnstarted(batch, call, { status: 'failed', failure: asked.failure }, context);
}

function settleUnstarted(
  batch: FactBatch,
  { callId }: CallState,
  outcome: Omit<PayloadOf<'ToolCallSettled'>, 'callId' | 'endedAt'>,
  context: RecordContext,
): void {
  batch.add('ToolCallSettled', { callId, ...outcome, endedAt: context.now() }, scopeOf(batch), NODE);
}

function settleUnrun(
  batch: FactBatch,
  call: CallState,
  status: 'cancelled' | 'unknown',
  code: 'PERDURE_TOOL_CANCELLED' | 'PERDURE_TOOL_UNKNOWN_OUTCOME',
  context: RecordContext,
): void {
  const failure = { code, message: errorMessage(code, { tool: call.name }) };
  settleUnstarted(batch, call, { status, failure }, context);
}
