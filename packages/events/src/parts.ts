import { z } from 'zod';
import { jsonValue, providerMetadata } from './json.js';

/** Where bytes too large for a fact are kept: `digest` is `sha256:<64 hex>` and `bytes` their length. */
export const artifactReference = z.strictObject({
  digest: z.string(),
  bytes: z.int().nonnegative(),
  mediaType: z.string(),
});
export type ArtifactReference = z.output<typeof artifactReference>;

export const textPart = z.strictObject({
  type: z.literal('text'),
  text: z.string(),
  providerMetadata: providerMetadata.exactOptional(),
});
export type TextPart = z.output<typeof textPart>;

export const reasoningPart = z.strictObject({
  type: z.literal('reasoning'),
  text: z.string(),
  providerMetadata: providerMetadata.exactOptional(),
});
export type ReasoningPart = z.output<typeof reasoningPart>;

/** A file: `data` is base64 text or a URL, or the bytes are in the artifact store. */
export const filePart = z.strictObject({
  type: z.literal('file'),
  mediaType: z.string(),
  filename: z.string().exactOptional(),
  data: z.string().exactOptional(),
  artifact: artifactReference.exactOptional(),
  providerMetadata: providerMetadata.exactOptional(),
});
export type FilePart = z.output<typeof filePart>;

/**
 * A call that the model asks for. `callId` is the runtime's; `providerCallId` is the provider's, which may repeat.
 * `invalidInput` replaces `input` when the provider's argument text was not JSON.
 */
export const toolCallPart = z.strictObject({
  type: z.literal('tool-call'),
  callId: z.string(),
  name: z.string(),
  input: jsonValue.exactOptional(),
  invalidInput: z.string().exactOptional(),
  providerCallId: z.string().exactOptional(),
  providerMetadata: providerMetadata.exactOptional(),
});
export type ToolCallPart = z.output<typeof toolCallPart>;

export const userPart = z.discriminatedUnion('type', [textPart, filePart]);
export type UserPart = z.output<typeof userPart>;

/** Parts of a model's answer, in the order in which the model gave them. */
export const answerPart = z.discriminatedUnion('type', [textPart, reasoningPart, filePart, toolCallPart]);
export type AnswerPart = z.output<typeof answerPart>;

/** Token counts as the provider reports them; a provider that reports none gives zeros. */
export const usage = z.strictObject({
  inputTokens: z.int().nonnegative(),
  outputTokens: z.int().nonnegative(),
  totalTokens: z.int().nonnegative(),
  reasoningTokens: z.int().nonnegative(),
  cacheReadTokens: z.int().nonnegative(),
  cacheWriteTokens: z.int().nonnegative(),
});
export type Usage = z.output<typeof usage>;

export const noUsage: Usage = Object.freeze({
  inputTokens: 0,
  outputTokens: 0,
  totalTokens: 0,
  reasoningTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
});

/** The sum of two usages. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    totalTokens: a.totalTokens + b.totalTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
  };
}
