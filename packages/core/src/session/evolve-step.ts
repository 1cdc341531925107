import { addUsage, type PayloadOf, type ToolCallPart } from '@perdure/events';
import type { AssistantMessage, ToolMessage, ToolResultPart } from '@perdure/plugin-api';
import type { EvolveHandlers, FactPlace } from './evolve.js';
import type { CallState, OpenStep, OpenTurn, SessionState } from './session-state.js';
import { copyCall, copyState, copyStep, copyTurn, withFirst } from './state-copies.js';
import { updateCall, withStep } from './turn-update.js';

type StepFacts =
  | 'StepStarted'
  | 'StepCheckpointed'
  | 'ModelAnswered'
  | 'ModelCallFailed'
  | 'ModelCallDenied'
  | 'AnswerInterrupted'
  | 'ApprovalRequested'
  | 'ApprovalResolved'
  | 'ApprovalRefused'
  | 'ToolCallDecided'
  | 'ToolCallStarted'
  | 'ToolCallSettled';

/** How a step goes: its view, its answer and its calls. */
export const evolveStep: Pick<EvolveHandlers, StepFacts> = {
  StepStarted: (fact, state) => {
    const turn = state.open[0];
    if (turn === undefined) return state;
    const next = copyState(state);
    const going = copyTurn(turn);
    going.step = newStep(fact.stepId, fact.index);
    going.steps = fact.index + 1;
    going.concluded = undefined;
    if (fact.joined.length > 0) {
      const joined = new Set(fact.joined);
      for (const { id, message } of [...state.notices, ...turn.waiting]) {
        if (joined.has(id)) next.context = next.context.push(message);
      }
      going.waiting = turn.waiting.filter(({ id }) => !joined.has(id));
      next.notices = state.notices.filter(({ id }) => !joined.has(id));
    }
    next.open = withFirst(state.open, going);
    next.lastStep = { stepId: fact.stepId, view: fact.view };
    if (fact.setup !== undefined) next.setup = fact.setup;
    return next;
  },

  StepCheckpointed: (_, state) => {
    const turn = state.open[0];
    if (turn?.step === undefined) return state;
    const { answer, calls } = turn.step;
    const going = copyTurn(turn);
    going.step = undefined;
    if (answer !== undefined && calls.length === 0) going.concluded = answer.finish;
    const next = copyState(state);
    next.open = withFirst(state.open, going);
    return next;
  },

  ModelAnswered: (fact, state, place) => {
    const next = copyState(state);
    next.usage = addUsage(state.usage, fact.usage);
    const turn = state.open[0];
    if (fact.purpose !== 'step' || fact.stepId === undefined || turn === undefined) return next;
    const step = copyStep(stepOf(turn, fact.stepId));
    step.answer = { messageId: fact.messageId, finish: fact.finish, usage: fact.usage };
    step.calls = callsOf(fact.parts);
    const going = copyTurn(turn);
    going.usage = addUsage(turn.usage, fact.usage);
    going.step = step;
    next.open = withFirst(state.open, going);
    next.context = state.context.push(state.messages.length);
    next.messages = state.messages.push(assistantMessage(state, turn.turnId, fact, 'complete', place));
    return next;
  },

  ModelCallFailed: (fact, state) => {
    const turn = state.open[0];
    if (turn?.step === undefined) return state;
    const { failure, retryable, retryAfterMs } = fact;
    const step = copyStep(turn.step);
    step.interrupted = undefined;
    step.failures = turn.step.failures + 1;
    step.lastFailure = { failure, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    return withStep(state, turn, step);
  },

  ModelCallDenied: (fact, state) => {
    const turn = state.open[0];
    if (turn?.step === undefined || fact.stepId !== turn.step.stepId) return state;
    const step = copyStep(turn.step);
    step.lastFailure = { failure: fact.failure, retryable: false };
    return withStep(state, turn, step);
  },

  AnswerInterrupted: (fact, state, place) => {
    const turn = state.open[0];
    if (turn === undefined) return state;
    const message = assistantMessage(state, turn.turnId, fact, 'interrupted', place);
    const step = copyStep(stepOf(turn, fact.stepId));
    step.interrupted = fact.reason;
    const next = copyState(withStep(state, turn, step));
    // What a person stopped they have read; what broke off is asked again and must not be answered twice.
    const isShown = fact.reason === 'stopped' && message.parts.some((part) => part.type === 'text' && part.text !== '');
    if (isShown) next.context = state.context.push(state.messages.length);
    next.messages = state.messages.push(message);
    return next;
  },

  ApprovalRequested: (fact, state, place) => {
    const { callId, name: _, input, ...about } = fact;
    return updateCall(state, callId, (call) => {
      const asked = copyCall(call);
      asked.input = input;
      asked.invalidInput = undefined;
      asked.approval = { ...about, requestedAt: place.time };
      return asked;
    });
  },

  // The first answer counts, whoever else believed to have given one.
  ApprovalResolved: ({ callId, argumentDigest, ...answer }, state) =>
    updateCall(state, callId, (call) => {
      const { approval } = call;
      if (approval === undefined || approval.answer !== undefined) return call;
      if (approval.argumentDigest !== argumentDigest) return call;
      const answered = copyCall(call);
      answered.approval = { ...approval, answer };
      return answered;
    }),

  ApprovalRefused: (_, state) => state,

  ToolCallDecided: (fact, state) => {
    const denied = fact.gates.find(({ decision }) => decision === 'deny');
    const decision = {
      decision: fact.decision,
      effect: fact.effect,
      argumentDigest: fact.argumentDigest,
      failure: denied && { code: denied.code ?? 'PERDURE_TOOL_DENIED', message: denied.reason ?? 'denied' },
    };
    if (fact.origin === 'model') {
      return updateCall(state, fact.callId, (call) => {
        const decided = copyCall(call);
        decided.decision = decision;
        if (fact.input !== undefined) {
          decided.input = fact.input;
          decided.invalidInput = undefined;
        }
        return decided;
      });
    }
    const { callId, name, input } = fact;
    const next = copyState(state);
    next.hostCalls = [...state.hostCalls, { ...newCall(callId, name), origin: 'host', input, decision }];
    return next;
  },

  ToolCallStarted: (fact, state) => {
    const { attempt, effect, idempotencyKey } = fact;
    const { epoch } = state.ownership;
    return updateCall(state, fact.callId, (call) => {
      const started = copyCall(call);
      started.started = { attempt, effect, idempotencyKey, epoch };
      return started;
    });
  },

  ToolCallSettled: (fact, state, place) => {
    if (state.hostCalls.some(({ callId }) => callId === fact.callId)) {
      const next = copyState(state);
      next.hostCalls = state.hostCalls.filter(({ callId }) => callId !== fact.callId);
      return next;
    }
    const turn = state.open[0];
    const call = turn?.step?.calls.find(({ callId }) => callId === fact.callId);
    if (turn?.step === undefined || call === undefined || call.settled !== undefined) return state;
    const settled = copyCall(call);
    settled.settled = fact.status;
    const step = copyStep(turn.step);
    step.calls = turn.step.calls.map((other) => (other === call ? settled : other));
    return withResult(state, turn, step, resultOf(fact, call.name), place);
  },
};

/** A reader that passes by the details of closed steps meets answers without the start of their step. */
function stepOf(turn: OpenTurn, stepId: string): OpenStep {
  return turn.step?.stepId === stepId ? turn.step : newStep(stepId, turn.steps);
}

function newStep(stepId: string, index: number): OpenStep {
  return {
    stepId,
    index,
    failures: 0,
    lastFailure: undefined,
    interrupted: undefined,
    answer: undefined,
    calls: [],
    results: undefined,
  };
}

function newCall(callId: string, name: string): CallState {
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

function callsOf(parts: PayloadOf<'ModelAnswered'>['parts']): readonly CallState[] {
  const calls: CallState[] = [];
  for (const part of parts) if (part.type === 'tool-call') calls.push(callOf(part));
  return calls;
}

function callOf({ callId, name, input, invalidInput }: ToolCallPart): CallState {
  return { ...newCall(callId, name), input, invalidInput };
}

function assistantMessage(
  state: SessionState,
  turnId: string,
  fact: Pick<PayloadOf<'AnswerInterrupted'>, 'messageId' | 'parts'>,
  status: AssistantMessage['status'],
  place: FactPlace,
): AssistantMessage {
  return {
    id: fact.messageId,
    sequence: state.messages.length + 1,
    revision: 1,
    turnId,
    createdAt: place.time,
    role: 'assistant',
    status,
    parts: fact.parts,
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
  if (fact.failure !== undefined) part.failure = fact.failure;
  return part;
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
