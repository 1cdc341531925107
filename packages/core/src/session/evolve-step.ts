import { addUsage, type PayloadOf, type ToolCallPart } from '@perdure/events';
import type { AssistantMessage } from '@perdure/plugin-api';
import { newCall } from './evolve-call.js';
import { askedForTitle } from './evolve-session.js';
import type { EvolveHandlers, FactPlace } from './evolve.js';
import type { CallState } from './call-state.js';
import type { ModelSpend, OpenStep, OpenTurn, SessionState } from './session-state.js';
import { copyState, copyStep, copyTurn, withFirst } from './state-copies.js';
import { withStep } from './turn-update.js';
import { withArtifacts } from './named-artifacts.js';

type StepFacts =
  'StepStarted' | 'StepCheckpointed' | 'ModelAnswered' | 'ModelCallFailed' | 'ModelCallDenied' | 'AnswerInterrupted';

/** How a step goes: its view and its answer. */
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
    next.spent = addSpend(state.spent, fact);
    next.artifacts = withArtifacts(state.artifacts, fact.parts);
    if (fact.purpose === 'title') next.naming = askedForTitle(state.naming);
    if (fact.purpose === 'step') next.answeredBy = fact.modelId;
    const turn = state.open[0];
    if (fact.purpose !== 'step' || fact.stepId === undefined || turn === undefined) return next;
    const step = copyStep(stepOf(turn, fact.stepId));
    step.answer = { messageId: fact.messageId, finish: fact.finish, usage: fact.usage };
    next.measured = { inputTokens: fact.usage.inputTokens, messages: state.context.length };
    step.calls = callsOf(fact.parts);
    const going = copyTurn(turn);
    going.usage = addUsage(turn.usage, fact.usage);
    going.workedMs += Math.max(0, fact.endedAt - fact.startedAt);
    going.step = step;
    going.overflow = undefined;
    next.open = withFirst(state.open, going);
    next.context = state.context.push(state.messages.length);
    next.messages = state.messages.push(assistantMessage(state, turn.turnId, fact, 'complete', place));
    return next;
  },

  ModelCallFailed: (fact, state) => {
    if (fact.purpose === 'title') return { ...state, naming: askedForTitle(state.naming) };
    const turn = state.open[0];
    if (turn === undefined || fact.purpose !== 'step' || fact.stepId === undefined) return state;
    const { failure, retryable, retryAfterMs } = fact;
    const isOverflow = failure.code === 'PERDURE_MODEL_CONTEXT_OVERFLOW';
    const step = copyStep(stepOf(turn, fact.stepId));
    step.interrupted = undefined;
    // It is no try of the same request: another one would be too long too.
    if (!isOverflow) step.failures += 1;
    step.lastFailure = { failure, retryable, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
    const going = copyTurn(turn);
    if (isOverflow) going.overflow = turn.overflow === 'compacted' ? 'again' : 'pending';
    going.workedMs += Math.max(0, fact.endedAt - fact.startedAt);
    return withStep(state, going, step);
  },

  ModelCallDenied: (fact, state) => {
    if (fact.purpose === 'title') return { ...state, naming: askedForTitle(state.naming) };
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
};

function addSpend(spent: readonly ModelSpend[], { modelId, usage }: PayloadOf<'ModelAnswered'>): readonly ModelSpend[] {
  const { inputTokens, outputTokens } = usage;
  const at = spent.findIndex((one) => one.modelId === modelId);
  const before = spent[at];
  if (before === undefined) return [...spent, { modelId, inputTokens, outputTokens }];
  return spent.with(at, {
    modelId,
    inputTokens: before.inputTokens + inputTokens,
    outputTokens: before.outputTokens + outputTokens,
  });
}

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
