import { addUsage, type PayloadOf, type ToolCallPart } from '@perdure/events';
import type { AssistantMessage, ToolMessage, ToolResultPart } from '@perdure/plugin-api';
import type { EvolveHandlers, FactPlace } from './evolve.js';
import type { CallState, OpenStep, OpenTurn, SessionState } from './session-state.js';
import { updateCall, updateStep } from './turn-update.js';

type StepFacts =
  | 'StepStarted'
  | 'StepCheckpointed'
  | 'ModelAnswered'
  | 'ModelCallFailed'
  | 'AnswerInterrupted'
  | 'ToolCallDecided'
  | 'ToolCallStarted'
  | 'ToolCallSettled';

/** How a step goes: its view, its answer and its calls. */
export const evolveStep: Pick<EvolveHandlers, StepFacts> = {
  StepStarted: (fact, state) => {
    const turn = state.open[0];
    if (turn === undefined) return state;
    const joined = new Set(fact.joined);
    let context = state.context;
    for (const { id, message } of [...state.notices, ...turn.waiting])
      if (joined.has(id)) context = context.push(message);
    const step: OpenStep = { stepId: fact.stepId, index: fact.index, failures: 0, calls: [] };
    const { concluded: _, ...going } = turn;
    const next: OpenTurn = {
      ...going,
      waiting: joined.size === 0 ? turn.waiting : turn.waiting.filter(({ id }) => !joined.has(id)),
      steps: fact.index + 1,
      step,
    };
    return {
      ...state,
      context,
      notices: joined.size === 0 ? state.notices : state.notices.filter(({ id }) => !joined.has(id)),
      open: [next, ...state.open.slice(1)],
      lastStep: { stepId: fact.stepId, view: fact.view },
      ...(fact.view.tools.names === undefined ? {} : { toolNames: fact.view.tools.names }),
    };
  },

  StepCheckpointed: (_, state) => {
    const turn = state.open[0];
    if (turn?.step === undefined) return state;
    const { step, ...rest } = turn;
    const concluded = step.answer !== undefined && step.calls.length === 0 ? { concluded: step.answer.finish } : {};
    return { ...state, open: [{ ...rest, ...concluded }, ...state.open.slice(1)] };
  },

  ModelAnswered: (fact, state, place) => {
    const counted: SessionState = { ...state, usage: addUsage(state.usage, fact.usage) };
    const turn = state.open[0];
    if (fact.purpose !== 'step' || fact.stepId === undefined || turn === undefined) return counted;
    const message = assistantMessage(state, turn.turnId, fact, 'complete', place);
    const calls = fact.parts.flatMap((part) => (part.type === 'tool-call' ? [callOf(part)] : []));
    const answer = { messageId: fact.messageId, finish: fact.finish, usage: fact.usage };
    const next: OpenTurn = {
      ...turn,
      usage: addUsage(turn.usage, fact.usage),
      step: { ...stepOf(turn, fact.stepId), answer, calls },
    };
    return {
      ...counted,
      messages: state.messages.push(message),
      context: state.context.push(state.messages.length),
      open: [next, ...state.open.slice(1)],
    };
  },

  ModelCallFailed: (fact, state) =>
    updateStep(state, ({ interrupted: _, ...step }) => ({
      ...step,
      failures: step.failures + 1,
      lastFailure: {
        failure: fact.failure,
        retryable: fact.retryable,
        ...(fact.retryAfterMs === undefined ? {} : { retryAfterMs: fact.retryAfterMs }),
      },
    })),

  AnswerInterrupted: (fact, state, place) => {
    const turn = state.open[0];
    if (turn === undefined) return state;
    const message = assistantMessage(state, turn.turnId, fact, 'interrupted', place);
    const shown = fact.reason === 'stopped' && message.parts.some((part) => part.type === 'text' && part.text !== '');
    const next: OpenTurn = { ...turn, step: { ...stepOf(turn, fact.stepId), interrupted: fact.reason } };
    return {
      ...state,
      messages: state.messages.push(message),
      // What a person stopped they have read; what broke off is asked again and must not be answered twice.
      context: shown ? state.context.push(state.messages.length) : state.context,
      open: [next, ...state.open.slice(1)],
    };
  },

  ToolCallDecided: (fact, state) => {
    const denied = fact.gates.find(({ decision }) => decision === 'deny');
    const decision = {
      decision: fact.decision,
      effect: fact.effect,
      argumentDigest: fact.argumentDigest,
      ...(denied === undefined
        ? {}
        : { failure: { code: denied.code ?? 'PERDURE_TOOL_DENIED', message: denied.reason ?? 'denied' } }),
    };
    if (fact.origin === 'model') return updateCall(state, fact.callId, (call) => ({ ...call, decision }));
    const call: CallState = {
      callId: fact.callId,
      name: fact.name,
      origin: 'host',
      ...(fact.input === undefined ? {} : { input: fact.input }),
      decision,
    };
    return { ...state, hostCalls: [...state.hostCalls, call] };
  },

  ToolCallStarted: (fact, state) =>
    updateCall(state, fact.callId, (call) => ({
      ...call,
      started: {
        attempt: fact.attempt,
        effect: fact.effect,
        idempotencyKey: fact.idempotencyKey,
        epoch: state.ownership.epoch,
      },
    })),

  ToolCallSettled: (fact, state, place) => {
    if (state.hostCalls.some(({ callId }) => callId === fact.callId)) {
      return { ...state, hostCalls: state.hostCalls.filter(({ callId }) => callId !== fact.callId) };
    }
    const turn = state.open[0];
    const call = turn?.step?.calls.find(({ callId }) => callId === fact.callId);
    if (turn?.step === undefined || call === undefined || call.settled !== undefined) return state;
    const calls = turn.step.calls.map((other) => (other === call ? { ...call, settled: fact.status } : other));
    const part: ToolResultPart = { type: 'tool-result', name: call.name, ...resultOf(fact) };
    return withResult(state, turn, { ...turn.step, calls }, part, place);
  },
};

/** A reader that passes by the details of closed steps meets answers without the start of their step. */
function stepOf(turn: OpenTurn, stepId: string): OpenStep {
  if (turn.step?.stepId === stepId) return turn.step;
  return { stepId, index: turn.steps, failures: 0, calls: [] };
}

function callOf(part: ToolCallPart): CallState {
  return {
    callId: part.callId,
    name: part.name,
    origin: 'model',
    ...(part.input === undefined ? {} : { input: part.input }),
    ...(part.invalidInput === undefined ? {} : { invalidInput: part.invalidInput }),
  };
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

function resultOf(fact: PayloadOf<'ToolCallSettled'>): Omit<ToolResultPart, 'type' | 'name'> {
  return {
    callId: fact.callId,
    status: fact.status,
    ...(fact.output === undefined ? {} : { output: fact.output }),
    ...(fact.artifact === undefined ? {} : { artifact: fact.artifact }),
    ...(fact.failure === undefined ? {} : { failure: fact.failure }),
  };
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
    const open = [{ ...turn, step }, ...state.open.slice(1)];
    return { ...state, messages: state.messages.with(step.results, message), open };
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
  const open = [{ ...turn, step: { ...step, results: state.messages.length } }, ...state.open.slice(1)];
  return {
    ...state,
    messages: state.messages.push(message),
    context: state.context.push(state.messages.length),
    open,
  };
}
