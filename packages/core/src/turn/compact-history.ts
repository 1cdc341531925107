import { answerText, type CoreType, type Failure, type FinishReason, type PayloadOf } from '@perdure/events';
import { errorMessage } from '@perdure/plugin-api';
import { estimateTokens, sizeOfMessage } from '../compose/message-size.js';
import { renderMessage, renderSummary } from '../compose/render-message.js';
import type { AgentView } from '../host/agent-view.js';
import { matches } from '../hooks/hook-matcher.js';
import { askHooks } from '../hooks/run-hooks.js';
import type { InvocationContext } from '../invoke/invocation-context.js';
import type { ModelMessage } from '../invoke/language-model.js';
import { invokeModel } from '../invoke/model-invoker.js';
import { draftFact, type DraftedFact } from '../session/fact-batch.js';
import { currentTurn, type PendingChange, type SessionState } from '../session/session-state.js';
import { admitModelCall, breakOffWith, tellBudget, type ModelCall } from './admit-model-call.js';
import { finishFailure } from './decider.js';
import type { SessionWork } from './session-work.js';

const INSTRUCTION =
  'Summarise the conversation so far for yourself: the goal, constraints, what was done and found, decisions, what ' +
  'is open, and every name, path and number that is still needed. Answer with the summary alone.';

/**
 * How much of the conversation a summary would replace, and how much stays as it is: the turn that runs, or the last.
 */
export function planCompaction(state: SessionState): { readonly summarised: number; readonly kept: number } {
  const { context, messages } = state;
  const turnId = currentTurn(state)?.turnId ?? messages.at(context.at(context.length - 1) ?? -1)?.turnId;
  let kept = 0;
  while (kept < context.length && messages.at(context.at(context.length - 1 - kept) as number)?.turnId === turnId)
    kept++;
  return { summarised: context.length - kept, kept };
}

/** Has a model sum up the older part of a conversation. A change that fails leaves the conversation as it was. */
export async function compactHistory(
  { changeId }: PendingChange,
  work: SessionWork,
  context: InvocationContext,
  epoch: number,
  controller: AbortController,
): Promise<readonly DraftedFact[]> {
  const { state } = work.journal;
  const scope = { turnId: context.turnId, runId: context.runId };
  const fact = <Type extends CoreType>(type: Type, payload: PayloadOf<Type>): DraftedFact =>
    draftFact(type, payload, scope, { kind: 'node' }, epoch, work.batchContext);
  const plan = planCompaction(state);
  if (plan.summarised === 0) return [fact('ChangeApplied', { changeId })];
  const agent = work.agent();
  const blocked = await blockedByHook(state, agent, context);
  if (blocked !== undefined) return [fact('ChangeApplied', { changeId, failure: blocked })];
  const { name, model } = agent.model(state.model);
  const request = { messages: summaryRequest(state, plan.summarised), tools: [], maxOutputTokens: undefined };
  const { modelSilenceMs: silenceMs } = agent.parts.limits;
  const { streaming } = agent.parts;
  const invocation = {
    model,
    request,
    streaming,
    silenceMs,
    answerKey: changeId,
    onDelta: () => undefined,
    controller,
  };
  const modelCall: ModelCall = {
    purpose: 'compaction',
    attempt: 1,
    model: { name, model },
    callId: changeId,
    estimatedTokens: estimateTokens(request.messages.reduce((sum, message) => sum + sizeOfMessage(message), 0)),
    maxOutputTokens: undefined,
  };
  const admission = await admitModelCall(modelCall, agent, work, context, fact);
  if (admission.status === 'denied') {
    const { facts } = admission;
    if (context.signal.aborted) return [];
    const failures = facts.flatMap(({ payload }) => ('failure' in payload && payload.failure) || []);
    return [...facts, fact('ChangeApplied', { changeId, ...(failures[0] && { failure: failures[0] }) })];
  }
  const { maxOutputTokens } = admission;
  const settle = breakOffWith(admission.abortSignals, controller);
  const outcome = await invokeModel({ ...invocation, request: { ...request, maxOutputTokens } }, context);
  settle();
  await tellBudget(modelCall, outcome, agent, context);
  if (outcome.status === 'aborted') return [];
  const { provider, modelId } = model;
  const { startedAt, endedAt } = outcome;
  const call = { purpose: 'compaction' as const, attempt: 1, model: name, provider, modelId, startedAt, endedAt };
  if (outcome.status === 'failed') {
    const { failure, retryable } = outcome.failure;
    return [fact('ModelCallFailed', { ...call, failure, retryable }), fact('ChangeApplied', { changeId, failure })];
  }
  const { parts, usage, finish } = outcome;
  const messageId = `${changeId}.summary`;
  const answered = fact('ModelAnswered', { ...call, messageId, parts: [...parts], usage, finish });
  const useless = summaryFailure(answerText(parts), finish);
  if (useless !== undefined) return [answered, fact('ChangeApplied', { changeId, failure: useless })];
  return [
    answered,
    fact('HistoryCompacted', { changeId, summary: answerText(parts), ...plan }),
    fact('ChangeApplied', { changeId }),
  ];
}

/** Half a summary, or none, must not take the place of a conversation. */
function summaryFailure(text: string, finish: FinishReason): Failure | undefined {
  const failure = finishFailure(finish);
  if (failure !== undefined || text.trim() !== '') return failure;
  const code = 'PERDURE_MODEL_PROTOCOL';
  return { code, message: errorMessage(code, {}) };
}

async function blockedByHook(state: SessionState, agent: AgentView, context: InvocationContext) {
  const hooks = agent.hooksAt('pre_compact').filter((hook) => matches(hook, context));
  if (hooks.length === 0) return undefined;
  const size = { message_count: state.context.length, used_tokens: state.usage.totalTokens };
  const occurrence = { event_type: 'pre_compact', payload: { ...context.subject(), ...size } } as const;
  const outcome = await askHooks(hooks, occurrence, context.signal);
  if (outcome.action === 'continue') return undefined;
  const code = 'PERDURE_CHANGE_BLOCKED';
  return { code, message: errorMessage(code, { change: 'compact', reason: outcome.reason }) };
}

function summaryRequest(state: SessionState, summarised: number): ModelMessage[] {
  const earlier = state.summary === undefined ? [] : [renderSummary(state.summary)];
  const messages = state.context.slice(0, summarised).flatMap((place) => {
    const message = state.messages.at(place);
    return message === undefined ? [] : [renderMessage(message)];
  });
  return [...earlier, ...messages, { role: 'user', content: [{ type: 'text', text: INSTRUCTION }] }];
}
