import type { PayloadOf } from '@perdure/events';
import type { ToolMessage, ToolResultPart } from '@perdure/plugin-api';
import { settleChildren } from './evolve-child.js';
import type { EvolveHandlers, FactPlace } from './evolve.js';
import type { CallState } from './call-state.js';
import { withArtifacts } from './named-artifacts.js';
import type { OpenStep, OpenTurn, SessionState } from './session-state.js';
import { copyCall, copyState, copyStep, copyTurn } from './state-copies.js';
import { updateCall, withStep } from './turn-update.js';

type CallFacts = 'ToolCallDecided' | 'ToolCallStarted' | 'ToolCallSettled';

/** How a call goes: what was decided about it, its start and its one outcome. */
export const evolveCall: Pick<EvolveHandlers, CallFacts> = {
  ToolCallDecided: (fact, state) => {
    const denied = fact.gates.find(({ decision }) => decision === 'deny');
    const decision = {
      decision: fact.decision,
      effect: fact.effect,
      argumentDigest: fact.argumentDigest,
      ...(fact.hasQuestions === undefined ? {} : { hasQuestions: fact.hasQuestions }),
      failure: denied && { code: denied.code ?? 'PERDURE_TOOL_DENIED', message: denied.reason ?? 'denied' },
    };
    return updateCall(withSideCall(state, fact), fact.callId, (call) => {
      const decided = copyCall(call);
      decided.decision = decision;
      if (fact.input !== undefined) {
        decided.input = fact.input;
        decided.invalidInput = undefined;
      }
      return decided;
    });
  },

  ToolCallStarted: (fact, state, place) => {
    const { attempt, effect, idempotencyKey } = fact;
    const { epoch } = state.ownership;
    return updateCall(state, fact.callId, (call) => {
      const started = copyCall(call);
      started.started = { attempt, effect, idempotencyKey, epoch, at: place.time };
      return started;
    });
  },

  ToolCallSettled: (fact, state, place) => {
    const settled = settleStepCall(settleSideCall(state, fact), fact, place);
    return named(settleChildren(settled, fact.callId), fact);
  },
};

/** Whatever becomes of the settlement, it names artifacts. */
function named(state: SessionState, fact: PayloadOf<'ToolCallSettled'>): SessionState {
  if (fact.artifact === undefined && fact.files === undefined) return state;
  const next = copyState(state);
  next.artifacts = withArtifacts(state.artifacts, [fact, ...(fact.files ?? [])]);
  return next;
}

/** The state with a call in it that no answer holds, unless it is there. */
export function withSideCall(
  state: SessionState,
  {
    callId,
    name,
    origin,
    parent,
  }: Pick<PayloadOf<'ToolCallDecided'>, 'callId' | 'name' | 'parent'> & {
    readonly origin?: CallState['origin'];
  },
): SessionState {
  if (origin === undefined || origin === 'model') return state;
  const key = parent === undefined ? 'hostCalls' : 'nestedCalls';
  if (state[key].some((call) => call.callId === callId)) return state;
  const next = copyState(state);
  const call = { ...newCall(callId, name), origin, madeIn: state.ownership.epoch };
  next[key] = [...state[key], parent === undefined ? call : { ...call, parent }];
  return next;
}

/** A call that is settled needs its parts no more; a part keeps what it came to until then. */
function settleSideCall(state: SessionState, fact: PayloadOf<'ToolCallSettled'>): SessionState {
  if (state.hostCalls.length === 0 && state.nestedCalls.length === 0) return state;
  const next = copyState(state);
  next.hostCalls = state.hostCalls.filter(({ callId }) => callId !== fact.callId);
  next.nestedCalls = state.nestedCalls.flatMap((call) => {
    if (call.parent === fact.callId) return [];
    if (call.callId !== fact.callId || call.settled !== undefined) return [call];
    const { status, output, artifact, files, failure } = fact;
    const settled = copyCall(call);
    settled.settled = status;
    settled.outcome = {
      status,
      ...(output === undefined ? {} : { output }),
      ...(artifact === undefined ? {} : { artifact }),
      ...(files === undefined ? {} : { files }),
      ...(failure === undefined ? {} : { failure }),
    };
    return [settled];
  });
  return next;
}

function settleStepCall(state: SessionState, fact: PayloadOf<'ToolCallSettled'>, place: FactPlace): SessionState {
  const turn = state.open[0];
  const call = turn?.step?.calls.find(({ callId }) => callId === fact.callId);
  if (turn?.step === undefined || call === undefined || call.settled !== undefined) return state;
  const settled = copyCall(call);
  settled.settled = fact.status;
  const step = copyStep(turn.step);
  step.calls = turn.step.calls.map((other) => (other === call ? settled : other));
  const going = copyTurn(turn);
  if (fact.startedAt !== undefined) {
    step.busy = busyWith(turn.step.busy, fact.startedAt, fact.endedAt);
    going.workedMs += spanOf(step.busy) - spanOf(turn.step.busy);
  }
  return withResult(state, going, step, resultOf(fact, call.name), place);
}

/** A call of which nothing is known but that it was asked for. */
export function newCall(callId: string, name: string): CallState {
  return {
    callId,
    name,
    origin: 'model',
    input: undefined,
    invalidInput: undefined,
    decision: undefined,
    started: undefined,
    settled: undefined,
  };
}

function resultOf(fact: PayloadOf<'ToolCallSettled'>, name: string): ToolResultPart {
  const part: { -readonly [Key in keyof ToolResultPart]: ToolResultPart[Key] } = {
    type: 'tool-result',
    name,
    callId: fact.callId,
    status: fact.status,
  };
  if (fact.output !== undefined) part.output = fact.output;
  if (fact.artifact !== undefined) part.artifact = fact.artifact;
  if (fact.files !== undefined) part.files = fact.files;
  if (fact.failure !== undefined) part.failure = fact.failure;
  if (fact.trust !== undefined) part.trust = fact.trust;
  return part;
}

function busyWith(before: OpenStep['busy'], from: number, to: number): NonNullable<OpenStep['busy']> {
  if (before === undefined) return { from, to };
  return { from: Math.min(before.from, from), to: Math.max(before.to, to) };
}

function spanOf(busy: OpenStep['busy']): number {
  return busy === undefined ? 0 : Math.max(0, busy.to - busy.from);
}

/** Results stand in the order of the calls, whichever came first. */
function withResult(
  state: SessionState,
  turn: OpenTurn,
  step: OpenStep,
  part: ToolResultPart,
  place: FactPlace,
): SessionState {
  const existing = step.results === undefined ? undefined : state.messages.at(step.results);
  if (existing?.role === 'tool' && step.results !== undefined) {
    const order = step.calls.map(({ callId }) => callId);
    const parts = [...existing.parts, part].sort((a, b) => order.indexOf(a.callId) - order.indexOf(b.callId));
    const message: ToolMessage = { ...existing, revision: existing.revision + 1, parts };
    const next = copyState(withStep(state, turn, step));
    next.messages = state.messages.with(step.results, message);
    return next;
  }
  const message: ToolMessage = {
    id: `${step.stepId}.results`,
    sequence: state.messages.length + 1,
    revision: 1,
    turnId: turn.turnId,
    createdAt: place.time,
    role: 'tool',
    parts: [part],
  };
  const first = copyStep(step);
  first.results = state.messages.length;
  const next = copyState(withStep(state, turn, first));
  next.context = state.context.push(state.messages.length);
  next.messages = state.messages.push(message);
  return next;
}
