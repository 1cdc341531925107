import type { Usage } from '@perdure/events';
import type { CompleteAnswer } from './complete-answer.js';
import type { AnswerDelta } from './play-answer.js';

/** What all bodies of one answer say. */
export interface ChatAnswerIdentity {
  readonly id: string;
  readonly model: string;
}

/** Answers carry one and the same second: what a test compares must not depend on when it ran. */
const CREATED = 1_767_225_600;

/** A body of the streamed answer. `usage` is there in every chunk when the client asked for it. */
export function chatChunk(
  identity: ChatAnswerIdentity,
  content: { readonly delta?: object; readonly finish?: string; readonly usage?: object | null },
): object {
  const choice = { index: 0, delta: content.delta ?? {}, logprobs: null, finish_reason: content.finish ?? null };
  return {
    id: identity.id,
    object: 'chat.completion.chunk',
    created: CREATED,
    model: identity.model,
    choices: content.delta === undefined && content.finish === undefined ? [] : [choice],
    ...(content.usage === undefined ? {} : { usage: content.usage }),
  };
}

/** How a delta looks in a chunk. The first one of a call brings its id and its name. */
export function chatDelta(answer: CompleteAnswer, delta: AnswerDelta, isFirstOfCall: boolean): object {
  if (delta.kind !== 'call') {
    return delta.kind === 'reasoning' ? { reasoning_content: delta.delta } : { content: delta.delta };
  }
  const call = answer.calls[delta.call];
  const opening = isFirstOfCall ? { id: call?.providerCallId, type: 'function' } : {};
  const name = isFirstOfCall ? { name: call?.name } : {};
  return { tool_calls: [{ index: delta.call, ...opening, function: { ...name, arguments: delta.delta } }] };
}

/** The body of an answer that is not streamed. */
export function chatCompletion(identity: ChatAnswerIdentity, answer: CompleteAnswer, finish: string | null): object {
  const calls = answer.calls.map((call) => ({
    id: call.providerCallId,
    type: 'function',
    function: { name: call.name, arguments: call.inputText },
  }));
  const message = {
    role: 'assistant',
    content: answer.text === '' && calls.length > 0 ? null : answer.text,
    ...(answer.reasoning === '' ? {} : { reasoning_content: answer.reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    id: identity.id,
    object: 'chat.completion',
    created: CREATED,
    model: identity.model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: finish }],
    ...(answer.usage === undefined ? {} : { usage: chatUsage(answer.usage) }),
  };
}

export function chatFinish(finish: CompleteAnswer['finish']): string {
  return finish.replace('-', '_');
}

export function chatUsage(usage: Usage): object {
  return {
    prompt_tokens: usage.inputTokens,
    completion_tokens: usage.outputTokens,
    total_tokens: usage.totalTokens,
    prompt_tokens_details: { cached_tokens: usage.cacheReadTokens },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}
