import type { AnswerPart, FinishReason, Usage } from '@perdure/events';
import { noUsage } from '@perdure/events';
import { isPerdureError, PerdureError, READ_ARTIFACT, type LanguageModel } from '@perdure/plugin-api';
import { showFiles } from '../files/show-files.js';
import { AnswerBuilder, type DeltaSink } from './answer-builder.js';
import type { InvocationContext } from './invocation-context.js';
import {
  callable,
  readFinish,
  readUsage,
  type ModelCallOptions,
  type ModelMessage,
  type ModelTool,
  type ResponseFormat,
} from './language-model.js';
import { classifyModelError, type ModelFailure } from './model-errors.js';
import { SilenceTimer } from './silence-timer.js';

export interface ModelRequest {
  readonly messages: readonly ModelMessage[];
  /** `false` when no message has files. */
  readonly hasFiles?: boolean;
  readonly tools: readonly ModelTool[];
  readonly maxOutputTokens: number | undefined;
  /** The form of the answer; a text when absent. */
  readonly responseFormat?: ResponseFormat;
}

export interface ModelInvocation {
  readonly model: LanguageModel;
  readonly request: ModelRequest;
  /** Whether the answer is asked for as a stream. */
  readonly streaming: boolean;
  /** Milliseconds without a sign of the provider until the call counts as failed. */
  readonly silenceMs: number;
  /** Which part of the session the ids of the answer's calls come from. */
  readonly answerKey: string;
  readonly onDelta: DeltaSink;
  /** Aborted when the provider is silent for too long; its signal is the context's. */
  readonly controller: AbortController;
}

interface Timing {
  readonly startedAt: number;
  readonly firstDeltaAt?: number;
  readonly endedAt: number;
}

export type ModelOutcome =
  | ({ readonly status: 'answered' } & ModelAnswer & Timing)
  | ({ readonly status: 'failed'; readonly failure: ModelFailure; readonly partial: readonly AnswerPart[] } & Timing)
  | ({ readonly status: 'aborted'; readonly partial: readonly AnswerPart[] } & Timing);

export interface ModelAnswer {
  readonly parts: readonly AnswerPart[];
  readonly usage: Usage;
  readonly finish: FinishReason;
  readonly responseId?: string;
  readonly warnings?: readonly string[];
}

/** The one way to a model. Never throws: what went wrong is an outcome. */
export async function invokeModel(invocation: ModelInvocation, context: InvocationContext): Promise<ModelOutcome> {
  const { clock } = context.env;
  const startedAt = clock.now();
  let firstDeltaAt: number | undefined;
  const silence = new SilenceTimer(invocation.silenceMs, invocation.controller);
  const builder = new AnswerBuilder(context.sessionId, invocation.answerKey, context.redaction, (delta) => {
    firstDeltaAt ??= clock.now();
    invocation.onDelta(delta);
  });
  const timing = (): Timing => ({
    startedAt,
    ...(firstDeltaAt === undefined ? {} : { firstDeltaAt }),
    endedAt: clock.now(),
  });
  try {
    const options = callOptions(invocation.request, await messagesFor(invocation, context), silence.signal);
    const end = invocation.streaming
      ? await readStream(invocation.model, options, builder, silence)
      : await readWhole(invocation.model, options, builder, silence);
    const parts = builder.finish();
    const answer = { parts, ...end, ...(builder.warnings.length === 0 ? {} : { warnings: builder.warnings }) };
    return { status: 'answered', ...answer, ...timing() };
  } catch (error) {
    const partial = builder.breakOff();
    const { aborted, reason } = silence.signal;
    // A silent provider, or a budget that ended under way. Whoever stops a turn or lets it go gives no code.
    const isFailure = isPerdureError(reason);
    if (aborted && !isFailure) return { status: 'aborted', partial, ...timing() };
    const failure = classifyModelError(isFailure ? reason : error, context.redaction);
    return { status: 'failed', failure, partial, ...timing() };
  } finally {
    silence.stop();
  }
}

type AnswerEnd = Pick<ModelAnswer, 'usage' | 'finish' | 'responseId'>;

async function readStream(
  model: LanguageModel,
  options: ModelCallOptions,
  builder: AnswerBuilder,
  silence: SilenceTimer,
): Promise<AnswerEnd> {
  const { stream } = await silence.race(callable(model).doStream(options));
  const reader = stream.getReader();
  // Cancelling answers the read that waits. A race for every piece would keep a reaction for every piece.
  silence.onAbort((reason) => void reader.cancel(reason).catch(() => undefined));
  let responseId: string | undefined;
  let end: AnswerEnd | undefined;
  for (;;) {
    const { done, value } = await reader.read();
    silence.signal.throwIfAborted();
    if (done) break;
    silence.reset();
    if (value?.type === 'error') throw value.error;
    if (value?.type === 'response-metadata') responseId = textOf(value.id) ?? responseId;
    else if (value?.type === 'finish') end = finishOf(value, responseId);
    else builder.add(value);
  }
  if (end === undefined) throw new PerdureError('PERDURE_MODEL_PROTOCOL');
  return end;
}

async function readWhole(
  model: LanguageModel,
  options: ModelCallOptions,
  builder: AnswerBuilder,
  silence: SilenceTimer,
): Promise<AnswerEnd> {
  const answer = await silence.race(callable(model).doGenerate(options));
  if (!Array.isArray(answer?.content)) throw new PerdureError('PERDURE_MODEL_PROTOCOL');
  builder.addContent(answer.content);
  return finishOf(answer, textOf(answer.response?.id));
}

function finishOf(
  end: { readonly usage: unknown; readonly finishReason: unknown },
  responseId: string | undefined,
): AnswerEnd {
  return {
    usage: end.usage === undefined ? noUsage : readUsage(end.usage),
    finish: readFinish(end.finishReason),
    ...(responseId === undefined ? {} : { responseId }),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The messages with the content of their files, as far as this model takes them. */
async function messagesFor(
  { request, model }: ModelInvocation,
  { files }: InvocationContext,
): Promise<readonly ModelMessage[]> {
  const { messages, tools } = request;
  if (request.hasFiles === false || files === undefined) return messages;
  return showFiles(messages, { model, files, hasReader: tools.some(({ name }) => name === READ_ARTIFACT) });
}

function callOptions(
  request: ModelRequest,
  prompt: readonly ModelMessage[],
  abortSignal: AbortSignal,
): ModelCallOptions {
  return {
    prompt,
    ...(request.tools.length === 0 ? {} : { tools: request.tools, toolChoice: { type: 'auto' } }),
    ...(request.maxOutputTokens === undefined ? {} : { maxOutputTokens: request.maxOutputTokens }),
    ...(request.responseFormat === undefined ? {} : { responseFormat: request.responseFormat }),
    abortSignal,
    includeRawChunks: false,
  };
}
