import type { Usage } from '@perdure/events';
import type { ScriptedAnswer } from './script.js';

/** An answer with everything that its script leaves to the defaults. */
export interface CompleteAnswer {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly CompleteCall[];
  readonly finish: NonNullable<ScriptedAnswer['finish']>;
  /** `undefined` when the provider reports none. */
  readonly usage: Usage | undefined;
}

export interface CompleteCall {
  readonly providerCallId: string;
  readonly name: string;
  readonly inputText: string;
}

const DEFAULT_INPUT_TOKENS = 10;
const DEFAULT_OUTPUT_TOKENS = 5;

export function completeAnswer(answer: ScriptedAnswer): CompleteAnswer {
  const calls = (answer.calls ?? []).map((call, index) => ({
    providerCallId: call.providerCallId ?? `call_${index}`,
    name: call.name,
    inputText: call.inputText ?? JSON.stringify(call.input ?? {}),
  }));
  return {
    reasoning: answer.reasoning ?? '',
    text: answer.text ?? (typeof answer.deltas === 'object' ? answer.deltas.join('') : ''),
    calls,
    finish: answer.finish ?? (calls.length > 0 ? 'tool-calls' : 'stop'),
    usage: answer.usage === null ? undefined : completeUsage(answer.usage ?? {}),
  };
}

function completeUsage(usage: NonNullable<ScriptedAnswer['usage']>): Usage {
  const inputTokens = usage.inputTokens ?? DEFAULT_INPUT_TOKENS;
  const outputTokens = usage.outputTokens ?? DEFAULT_OUTPUT_TOKENS;
  return {
    inputTokens,
    outputTokens,
    totalTokens: usage.totalTokens ?? inputTokens + outputTokens,
    reasoningTokens: usage.reasoningTokens ?? 0,
    cacheReadTokens: usage.cacheReadTokens ?? 0,
    cacheWriteTokens: usage.cacheWriteTokens ?? 0,
  };
}
