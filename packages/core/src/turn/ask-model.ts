import type { AnswerPart, CoreType, PayloadOf } from '@perdure/events';
import { errorMessage, isPerdureError, reasonOf } from '@perdure/plugin-api';
import type { ComposedStep } from '../compose/composer.js';
import { tell } from '../hooks/tell.js';
import type { AnswerDelta } from '../invoke/answer-builder.js';
import type { InvocationContext } from '../invoke/invocation-context.js';
import { invokeModel, type ModelOutcome, type ModelRequest } from '../invoke/model-invoker.js';
import type { DraftWriter } from '../live/draft-writer.js';
import { answerMessageId, type AnswerKey } from '../live/live-answer.js';
import { draftFact, type DraftedFact } from '../session/fact-batch.js';
import { admitModelCall, breakOffWith, giveBack, hitOf, tellBudget, type ModelCall } from './admit-model-call.js';
import { backOff } from './back-off.js';
import type { EffectIntent } from './decider.js';
import type { SessionWork } from './session-work.js';

export interface AskOptions {
  readonly epoch: number;
  /** Its signal is the context's; a provider that is silent for too long aborts it. */
  readonly controller: AbortController;
  /** Whether the session is being let go: what broke off will be asked again elsewhere. */
  readonly isHandingOver: () => boolean;
}

/** Asks the model for the answer of a step, once. Every try leaves a fact. */
export async function askModel(
  intent: Extract<EffectIntent, { readonly do: 'ask-model' }>,
  composed: ComposedStep,
  work: SessionWork,
  context: InvocationContext,
  draft: DraftWriter,
  options: AskOptions,
): Promise<readonly DraftedFact[]> {
  const { step, attempt } = intent;
  const key: AnswerKey = { stepId: step.stepId, attempt };
  const modelCall: ModelCall = {
    purpose: 'step',
    ...key,
    model: composed.model,
    callId: step.stepId,
    estimatedTokens: composed.estimatedTokens,
    maxOutputTokens: composed.agent.parts.limits.maxOutputTokens,
  };
  const fact = factMaker(key, composed, work, context, options);
  const admission = await admitModelCall(modelCall, composed.agent, work, context, fact);
  if (admission.status === 'denied') return admission.facts;
  const { signal, env } = context;
  const settle = breakOffWith(admission.abortSignals, options.controller);
  if (attempt > 1) await backOff(attempt - 1, step.lastFailure?.retryAfterMs, env.random, signal);
  if (signal.aborted) {
    settle();
    await giveBack(modelCall, composed.agent, context);
    return brokenOff(signal.reason, key, composed, fact, env.clock.now());
  }
  const live = work.feed.beginAnswer(key);
  draft.begin(live);
  const onDelta = (delta: AnswerDelta): void => {
    work.feed.addDelta(live, delta);
    draft.grew('text' in delta ? delta.text.length : 0);
  };
  const { limits, streaming } = composed.agent.parts;
  const { model } = composed.model;
  const invocation = {
    model,
    request: { ...composed.request(), maxOutputTokens: admission.maxOutputTokens },
    streaming,
    silenceMs: limits.modelSilenceMs,
    answerKey: step.stepId,
    onDelta,
    controller: options.controller,
  };
  await tell(
    { event: 'generate_start', payload: () => startOf(invocation.request, composed) },
    composed.agent,
    context,
  );
  const outcome = await withFilesKept(await invokeModel(invocation, context), work);
  settle();
  draft.settle();
  await tellBudget(modelCall, outcome, composed.agent, context);
  try {
    return [...hitOf(signal.reason, fact), ...factsOf(outcome, key, composed, fact, options)];
  } catch (error) {
    return [unkeepable(outcome, key, composed, fact, error)];
  }
}

/** Facts refer to the files that a model made; their bytes are durable before. */
async function withFilesKept(outcome: ModelOutcome, { files }: SessionWork): Promise<ModelOutcome> {
  if (outcome.status !== 'answered') return outcome;
  return { ...outcome, parts: await files.keepAnswer(outcome.parts) };
}

/** A call that its budget ended before it was made. What a stop or a hand-over ends leaves no fact. */
function brokenOff(
  reason: unknown,
  key: AnswerKey,
  { model }: ComposedStep,
  fact: ReturnType<typeof factMaker>,
  now: number,
): readonly DraftedFact[] {
  const hits = hitOf(reason, fact);
  if (hits.length === 0 || !isPerdureError(reason)) return [];
  const { provider, modelId } = model.model;
  const call = { purpose: 'step' as const, ...key, model: model.name, provider, modelId, startedAt: now, endedAt: now };
  const failure = { code: reason.code, message: reason.message };
  return [...hits, fact('ModelCallFailed', { ...call, failure, retryable: false })];
}

/** An answer that no fact can hold. It would be no better another time. */
function unkeepable(
  { startedAt, endedAt }: ModelOutcome,
  key: AnswerKey,
  { model }: ComposedStep,
  fact: ReturnType<typeof factMaker>,
  error: unknown,
): DraftedFact {
  const code = 'PERDURE_MODEL_PROTOCOL';
  const message = `${errorMessage(code, {})} ${reasonOf(error)}`;
  const { provider, modelId } = model.model;
  const call = { purpose: 'step' as const, ...key, model: model.name, provider, modelId, startedAt, endedAt };
  return fact('ModelCallFailed', { ...call, failure: { code, message }, retryable: false });
}

function factMaker(
  key: AnswerKey,
  composed: ComposedStep,
  work: SessionWork,
  context: InvocationContext,
  { epoch }: AskOptions,
) {
  const scope = { turnId: context.turnId, runId: context.runId, stepId: key.stepId };
  const actor = { kind: 'model', id: composed.model.model.modelId } as const;
  return <Type extends CoreType>(type: Type, payload: PayloadOf<Type>): DraftedFact =>
    draftFact(type, payload, scope, actor, epoch, work.batchContext);
}

function startOf({ messages, tools }: ModelRequest, { model }: ComposedStep) {
  const user = messages.findLast(({ role }) => role === 'user');
  const parts = user?.role === 'user' ? user.content : [];
  return {
    prompt: parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
    model_provider: model.model.provider,
    model_name: model.name,
    available_tools: tools.map(({ name }) => name),
  };
}

function factsOf(
  outcome: ModelOutcome,
  key: AnswerKey,
  composed: ComposedStep,
  fact: ReturnType<typeof factMaker>,
  options: AskOptions,
): readonly DraftedFact[] {
  const { provider, modelId } = composed.model.model;
  const call = {
    purpose: 'step' as const,
    ...key,
    model: composed.model.name,
    provider,
    modelId,
    startedAt: outcome.startedAt,
    endedAt: outcome.endedAt,
  };
  const messageId = answerMessageId(key);
  const interrupted = (
    reason: PayloadOf<'AnswerInterrupted'>['reason'],
    parts: readonly AnswerPart[],
  ): DraftedFact[] =>
    parts.length === 0 ? [] : [fact('AnswerInterrupted', { ...key, messageId, reason, parts: [...parts] })];
  switch (outcome.status) {
    case 'answered': {
      const { usage, finish, firstDeltaAt, responseId, warnings } = outcome;
      const optional = {
        ...(firstDeltaAt === undefined ? {} : { firstDeltaAt }),
        ...(responseId === undefined ? {} : { responseId }),
        ...(warnings === undefined ? {} : { warnings: [...warnings] }),
      };
      return [fact('ModelAnswered', { ...call, messageId, parts: [...outcome.parts], usage, finish, ...optional })];
    }
    case 'failed': {
      const { failure, status, retryable, retryAfterMs } = outcome.failure;
      const optional = {
        ...(status === undefined ? {} : { status }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      };
      const failed = fact('ModelCallFailed', { ...call, failure, retryable, ...optional });
      return [...interrupted('failed', outcome.partial), failed];
    }
    case 'aborted':
      return interrupted(options.isHandingOver() ? 'handed-over' : 'stopped', outcome.partial);
  }
}
