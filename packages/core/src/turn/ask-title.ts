import { answerText, promptText, type CoreType, type PayloadOf } from '@perdure/events';
import type { AgentView } from '../host/agent-view.js';
import { estimateTokens, sizeOfMessage } from '../compose/message-size.js';
import { tell } from '../hooks/tell.js';
import type { InvocationContext } from '../invoke/invocation-context.js';
import type { ModelMessage } from '../invoke/language-model.js';
import { invokeModel, type ModelOutcome } from '../invoke/model-invoker.js';
import { draftFact, type DraftedFact } from '../session/fact-batch.js';
import type { SessionState } from '../session/session-state.js';
import { titleFromAnswer } from '../session/title.js';
import { admitModelCall, breakOffWith, hitOf, tellBudget, type ModelCall } from './admit-model-call.js';
import type { SessionWork } from './session-work.js';

const INSTRUCTION =
  'Give this conversation a title of at most eight words, in its own language. Answer with the title alone.';
/** Characters of the first prompt and of its answer that the model is shown. */
const SHOWN = 2_000;
/** A title is a line; models that think before it need some room. */
const MAX_OUTPUT_TOKENS = 1_024;
/** Milliseconds for which the model may be silent: nobody waits for the title, and it must not wait for ever. */
const SILENCE_MS = 30_000;

/** What came of the call: the facts that tell of it, and a title if there is one. */
export interface TitleAnswer {
  readonly facts: readonly DraftedFact[];
  readonly title: string | undefined;
}

/**
 * Asks a model for a title, once, through the budget and the one invoker. What was broken off leaves no fact.
 *
 * @param modelName the model to ask; the session's own when absent
 */
export async function askTitle(
  state: SessionState,
  agent: AgentView,
  modelName: string | undefined,
  work: SessionWork,
  context: InvocationContext,
  controller: AbortController,
): Promise<TitleAnswer> {
  const { name, model } = agent.model(modelName ?? state.model);
  const { provider, modelId } = model;
  const { epoch } = state.ownership;
  const fact = <Type extends CoreType>(type: Type, payload: PayloadOf<Type>): DraftedFact =>
    draftFact(type, payload, {}, { kind: 'model', id: modelId }, epoch, work.batchContext);
  const callId = `${work.key.id}.title.${state.naming.completed}`;
  const messages = [request(state)];
  const modelCall: ModelCall = {
    purpose: 'title',
    attempt: 1,
    model: { name, model },
    callId,
    estimatedTokens: estimateTokens(messages.reduce((sum, message) => sum + sizeOfMessage(message), 0)),
    maxOutputTokens: MAX_OUTPUT_TOKENS,
  };
  const admission = await admitModelCall(modelCall, agent, work, context, fact);
  if (admission.status === 'denied') return { facts: admission.facts, title: undefined };
  const { maxOutputTokens } = admission;
  const settle = breakOffWith(admission.abortSignals, controller);
  const start = { prompt: INSTRUCTION, model_provider: provider, model_name: name, available_tools: [] };
  await tell({ event: 'generate_start', payload: () => start }, agent, context);
  const { limits, streaming } = agent.parts;
  const outcome = await invokeModel(
    {
      model,
      request: { messages, tools: [], maxOutputTokens },
      streaming,
      silenceMs: Math.min(SILENCE_MS, limits.modelSilenceMs),
      answerKey: callId,
      onDelta: () => undefined,
      controller,
    },
    context,
  );
  settle();
  await tellBudget(modelCall, outcome, agent, context);
  const { startedAt, endedAt } = outcome;
  const call = { purpose: 'title' as const, attempt: 1, model: name, provider, modelId, startedAt, endedAt };
  const hits = hitOf(controller.signal.reason, fact);
  return { facts: [...hits, ...factsOf(outcome, callId, call, fact)], title: titleIn(outcome) };
}

function titleIn(outcome: ModelOutcome): string | undefined {
  return outcome.status === 'answered' ? titleFromAnswer(answerText(outcome.parts)) : undefined;
}

function factsOf(
  outcome: ModelOutcome,
  messageId: string,
  call: Omit<PayloadOf<'ModelAnswered'>, 'messageId' | 'parts' | 'usage' | 'finish'>,
  fact: <Type extends CoreType>(type: Type, payload: PayloadOf<Type>) => DraftedFact,
): readonly DraftedFact[] {
  if (outcome.status === 'aborted') return [];
  if (outcome.status === 'failed') {
    const { failure, status } = outcome.failure;
    return [
      fact('ModelCallFailed', { ...call, failure, retryable: false, ...(status === undefined ? {} : { status }) }),
    ];
  }
  const { parts, usage, finish } = outcome;
  return [fact('ModelAnswered', { ...call, messageId, parts: [...parts], usage, finish })];
}

/** The beginning of the first exchange, and what is wanted. */
function request({ messages }: SessionState): ModelMessage {
  let prompt = '';
  let answer = '';
  for (const message of messages) {
    if (message.role === 'user' && prompt === '') prompt = promptText(message.parts).slice(0, SHOWN);
    if (message.role === 'assistant' && prompt !== '') answer = answerText(message.parts).slice(0, SHOWN);
    if (answer !== '') break;
  }
  const text = `<prompt>\n${prompt}\n</prompt>\n<answer>\n${answer}\n</answer>\n\n${INSTRUCTION}`;
  return { role: 'user', content: [{ type: 'text', text }] };
}
