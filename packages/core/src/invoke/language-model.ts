import type { ArtifactReference, FinishReason, JsonValue, ProviderMetadata, Usage } from '@perdure/events';
import { PerdureError, type LanguageModel } from '@perdure/plugin-api';

/**
 * What the runtime hands to a model: the call options that the specifications v2, v3 and v4 of the AI SDK share. The
 * shapes are repeated here, so that the runtime depends on no version of the provider package.
 */
export interface ModelCallOptions {
  readonly prompt: readonly ModelMessage[];
  readonly tools?: readonly ModelTool[];
  readonly toolChoice?: { readonly type: 'auto' | 'none' };
  readonly maxOutputTokens?: number;
  readonly responseFormat?: ResponseFormat;
  readonly abortSignal: AbortSignal;
  readonly includeRawChunks: false;
}

/** An answer that is JSON; a model that cannot be held to a schema says so in a warning. */
export interface ResponseFormat {
  readonly type: 'json';
  readonly schema: JsonValue;
  readonly name?: string;
}

export type ModelMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: readonly (ModelText | ModelFile | ModelArtifact)[] }
  | {
      readonly role: 'assistant';
      readonly content: readonly (ModelText | ModelReasoning | ModelFile | ModelArtifact | ModelToolCall)[];
    }
  | { readonly role: 'tool'; readonly content: readonly ModelToolResult[] };

interface WithOptions {
  readonly providerOptions?: ProviderMetadata;
}
export interface ModelText extends WithOptions {
  readonly type: 'text';
  readonly text: string;
}
export interface ModelReasoning extends WithOptions {
  readonly type: 'reasoning';
  readonly text: string;
}
export interface ModelFile extends WithOptions {
  readonly type: 'file';
  readonly mediaType: string;
  /** Base64 text, bytes or a URL; version 4 tags them with their kind. */
  readonly data:
    | FileData
    | { readonly type: 'data'; readonly data: string | Uint8Array }
    | { readonly type: 'url'; readonly url: URL };
  readonly filename?: string;
}
type FileData = string | URL | Uint8Array;

/** A file whose bytes are in the artifact store. What models are given has its content instead. */
export interface ModelArtifact extends WithOptions {
  readonly type: 'artifact';
  readonly mediaType: string;
  /** Absent when the file could not be kept. */
  readonly artifact?: ArtifactReference;
  readonly filename?: string;
}
export interface ModelToolCall extends WithOptions {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: JsonValue;
}
export interface ModelToolResult {
  readonly type: 'tool-result';
  readonly toolCallId: string;
  readonly toolName: string;
  readonly output: ModelOutput;
  /** Files beside the output. What models are given has them in the output, or in the message behind. */
  readonly files?: readonly ModelArtifact[];
}
export interface ModelOutput {
  readonly type: 'text' | 'json' | 'error-text' | 'content';
  readonly value: JsonValue;
}
export interface ModelTool {
  readonly type: 'function';
  readonly name: string;
  readonly description?: string;
  readonly inputSchema: JsonValue;
}

/** A piece of a streamed answer. Kinds that are not named here are passed by. */
export type ModelStreamPart =
  | { readonly type: 'stream-start'; readonly warnings?: readonly unknown[] }
  | { readonly type: 'response-metadata'; readonly id?: string }
  | {
      readonly type: 'text-start' | 'reasoning-start';
      readonly id: string;
      readonly providerMetadata?: ProviderMetadata;
    }
  | {
      readonly type: 'text-delta' | 'reasoning-delta';
      readonly id: string;
      readonly delta: string;
      readonly providerMetadata?: ProviderMetadata;
    }
  | { readonly type: 'text-end' | 'reasoning-end'; readonly id: string; readonly providerMetadata?: ProviderMetadata }
  | {
      readonly type: 'tool-input-start';
      readonly id: string;
      readonly toolName: string;
      readonly providerExecuted?: boolean;
    }
  | { readonly type: 'tool-input-delta'; readonly id: string; readonly delta: string }
  | { readonly type: 'tool-input-end'; readonly id: string }
  | ({ readonly type: 'tool-call' } & ModelCallContent)
  | { readonly type: 'file'; readonly mediaType: string; readonly data: string | Uint8Array }
  | {
      readonly type: 'finish';
      readonly usage: unknown;
      readonly finishReason: unknown;
      readonly providerMetadata?: unknown;
    }
  | { readonly type: 'error'; readonly error: unknown };

export interface ModelCallContent {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: string;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: ProviderMetadata;
}

/** A content part of an answer that came whole. */
export type ModelContent =
  | { readonly type: 'text' | 'reasoning'; readonly text: string; readonly providerMetadata?: ProviderMetadata }
  | { readonly type: 'file'; readonly mediaType: string; readonly data: string | Uint8Array }
  | ({ readonly type: 'tool-call' } & ModelCallContent)
  | { readonly type: 'source' | 'tool-result' | 'tool-approval-request' | 'custom' | 'reasoning-file' };

export interface GeneratedAnswer {
  readonly content: readonly ModelContent[];
  readonly usage: unknown;
  readonly finishReason: unknown;
  readonly response?: { readonly id?: string };
  readonly warnings?: readonly unknown[];
}

/** The same model, with the shapes that the runtime uses. */
export interface CallableModel {
  doGenerate(options: ModelCallOptions): PromiseLike<GeneratedAnswer>;
  doStream(options: ModelCallOptions): PromiseLike<{ readonly stream: ReadableStream<ModelStreamPart> }>;
}

const VERSIONS = new Set(['v2', 'v3', 'v4']);

/** Checks what a host handed in as a model. Throws PERDURE_MODEL_INVALID; a text is never turned into a model. */
export function checkModel(name: string, model: unknown): LanguageModel {
  const candidate = model as Partial<LanguageModel> | null;
  const callable =
    typeof candidate === 'object' && candidate !== null && VERSIONS.has(String(candidate.specificationVersion));
  if (!callable || typeof candidate.doGenerate !== 'function' || typeof candidate.doStream !== 'function') {
    throw new PerdureError('PERDURE_MODEL_INVALID', { model: name });
  }
  return model as LanguageModel;
}

export function callable(model: LanguageModel): CallableModel {
  return model as unknown as CallableModel;
}

type UnifiedFinish = FinishReason['unified'];
const FINISHES = new Set<UnifiedFinish>(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other']);

/** v2 gives a text, later versions `{ unified, raw }`. */
export function readFinish(finish: unknown): FinishReason {
  if (typeof finish === 'string') return { unified: unifiedFinish(finish), raw: finish };
  const { unified, raw } = (finish ?? {}) as { readonly unified?: unknown; readonly raw?: unknown };
  return { unified: unifiedFinish(unified), ...(typeof raw === 'string' ? { raw } : {}) };
}

function unifiedFinish(finish: unknown): UnifiedFinish {
  return FINISHES.has(finish as UnifiedFinish) ? (finish as UnifiedFinish) : 'other';
}

/** v2 gives flat counts, later versions grouped ones; what is missing is 0. */
export function readUsage(usage: unknown): Usage {
  const { inputTokens, outputTokens, reasoningTokens, cachedInputTokens, totalTokens } = record(usage);
  const input = record(inputTokens);
  const output = record(outputTokens);
  const inputTotal = count(typeof inputTokens === 'number' ? inputTokens : input['total']);
  const outputTotal = count(typeof outputTokens === 'number' ? outputTokens : output['total']);
  return {
    inputTokens: inputTotal,
    outputTokens: outputTotal,
    totalTokens: count(totalTokens) || inputTotal + outputTotal,
    reasoningTokens: count(reasoningTokens) || count(output['reasoning']),
    cacheReadTokens: count(cachedInputTokens) || count(input['cacheRead']),
    cacheWriteTokens: count(input['cacheWrite']),
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function count(value: unknown): number {
  const isCount = typeof value === 'number' && Number.isFinite(value) && value > 0;
  return isCount ? Math.min(Math.round(value), Number.MAX_SAFE_INTEGER) : 0;
}
