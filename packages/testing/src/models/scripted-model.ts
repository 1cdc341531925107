import type { ReadableStream } from 'node:stream/web';
import type { LanguageModel } from '@perdure/plugin-api';
import { pause, unlessAborted } from './abort.js';
import { partStream } from './part-stream.js';
import { faultBeforeAnswer } from './play-answer.js';
import { promptRequest, type ModelCallOptions } from './prompt-request.js';
import { connectionFailure, scriptedFailure } from './provider-error.js';
import type { Script, ScriptedAnswer } from './script.js';
import { ScriptReader } from './script-reader.js';
import { specificationShape, type Specification } from './specification.js';
import { streamParts, type StreamPart } from './stream-parts.js';
import { wholeAnswer, type WholeAnswer } from './whole-answer.js';

export interface ScriptedModelOptions<Version extends Specification = 'v3'> {
  /** `v3` when absent. */
  readonly specification?: Version;
  /** `scripted` when absent. */
  readonly provider?: string;
  /** `scripted` when absent. */
  readonly modelId?: string;
  /** Whether the options of all calls are kept in `calls`; `true` when absent. */
  readonly record?: boolean;
}

/**
 * A language model of the AI SDK that answers by a script, without a network. What a script decides by is read from the
 * prompt, so a process that resumes a session asks a fresh model and gets the same answers.
 */
export class ScriptedModel<Version extends Specification = 'v3'> implements LanguageModel {
  readonly specificationVersion: Version;
  readonly provider: string;
  readonly modelId: string;
  readonly supportedUrls: Record<string, RegExp[]> = {};
  /** The options of all calls, streamed or not, in order. */
  readonly calls: ModelCallOptions[] = [];
  private readonly reader: ScriptReader;
  private readonly record: boolean;

  /** Throws PERDURE_CONFIGURATION for a script that is not one. */
  constructor(script: Script, options: ScriptedModelOptions<Version> = {}) {
    // Without the option the type parameter has its default.
    this.specificationVersion = options.specification ?? ('v3' as Version);
    this.provider = options.provider ?? 'scripted';
    this.modelId = options.modelId ?? 'scripted';
    this.reader = new ScriptReader(script);
    this.record = options.record ?? true;
  }

  /** Rejects with the abort reason, or with an error of the AI SDK's shape. */
  async doGenerate(options: ModelCallOptions): Promise<WholeAnswer<Version>> {
    const answer = await this.begin(options);
    const signal = options.abortSignal ?? neverAborted();
    return wholeAnswer(answer, specificationShape(this.specificationVersion), this.modelId, signal);
  }

  /** Rejects as `doGenerate` does; behind its beginning the stream errs instead. */
  async doStream(options: ModelCallOptions): Promise<{ stream: ReadableStream<StreamPart<Version>> }> {
    const answer = await this.begin(options);
    const parts = streamParts(answer, specificationShape(this.specificationVersion), this.modelId);
    return { stream: partStream(parts, options.abortSignal) };
  }

  /** The answer, when the call does not fail before it. */
  private async begin(options: ModelCallOptions): Promise<ScriptedAnswer> {
    const signal = options.abortSignal ?? neverAborted();
    signal.throwIfAborted();
    if (this.record) this.calls.push(options);
    const answer = await unlessAborted(this.reader.answerTo(promptRequest(options, this.modelId)), signal);
    if (answer.delayMs !== undefined) await pause(answer.delayMs, signal);
    const fault = faultBeforeAnswer(answer);
    if (fault === 'error') throw scriptedFailure(answer.error ?? {});
    if (fault === 'cut') throw connectionFailure();
    if (fault === 'stall') await pause(Number.POSITIVE_INFINITY, signal);
    return answer;
  }
}

function neverAborted(): AbortSignal {
  return new AbortController().signal;
}
