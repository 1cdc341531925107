import { pause } from './abort.js';
import { completeAnswer } from './complete-answer.js';
import { playAnswer, type AnswerBeat } from './play-answer.js';
import { brokenAnswer, jsonParseError, typeValidationError, unreadableAnswer } from './provider-error.js';
import { providerFailure } from './provider-failure.js';
import type { ScriptedAnswer } from './script.js';
import type { FinishOf, Specification, SpecificationShape, UsageOf } from './specification.js';

export type WholeAnswerPart =
  | { type: 'text' | 'reasoning'; text: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string };

/** An answer that is not streamed. */
export interface WholeAnswer<Version extends Specification> {
  readonly content: WholeAnswerPart[];
  readonly finishReason: FinishOf[Version];
  readonly usage: UsageOf[Version];
  readonly warnings: [];
  readonly response: { readonly modelId: string };
}

/**
 * The answer, after all its waits. Without streaming nobody sees deltas: a fault behind the first one takes the whole
 * answer, and one that ends early is whole but for its reason.
 */
export async function wholeAnswer<Version extends Specification>(
  answer: ScriptedAnswer,
  shape: SpecificationShape<Version>,
  modelId: string,
  signal: AbortSignal,
): Promise<WholeAnswer<Version>> {
  const kinds = new Set<AnswerBeat['kind']>();
  for (const beat of playAnswer(answer)) {
    kinds.add(beat.kind);
    if (beat.kind === 'wait') await pause(beat.ms, signal);
  }
  if (kinds.has('cut')) throw brokenAnswer();
  if (kinds.has('malformed')) throw unreadableAnswer('{"choices":[', jsonParseError('{"choices":['));
  if (kinds.has('error')) {
    const { body } = providerFailure(answer.error ?? {});
    throw unreadableAnswer(JSON.stringify(body), typeValidationError(body));
  }
  const { reasoning, text, calls, finish, usage } = completeAnswer(answer);
  const content: WholeAnswerPart[] = [];
  if (reasoning !== '') content.push({ type: 'reasoning', text: reasoning });
  if (text !== '') content.push({ type: 'text', text });
  for (const { providerCallId, name, inputText } of calls) {
    content.push({ type: 'tool-call', toolCallId: providerCallId, toolName: name, input: inputText });
  }
  return {
    content,
    finishReason: kinds.has('end') ? shape.noFinish : shape.finish(finish),
    usage: shape.usage(usage),
    warnings: [],
    response: { modelId },
  };
}
