import type { CompactionReason } from '@perdure/events';

/** How long requests may get, in tokens. */
export interface ContextLimits {
  /** The model's window. */
  readonly window: number;
  /** The share of it at which the conversation is compacted before the next step. */
  readonly compactAt: number;
  /** What of the window the answer may take, where that is known. */
  readonly maxOutputTokens: number | undefined;
}

/** A message of the conversation, as far as a plan goes by it. */
export interface PlannedMessage {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly tokens: number;
  /** Whether it is a prompt of the turn that runs, or of the last one. */
  readonly isCurrentPrompt: boolean;
  /** Whether it asks for calls of which not all have a result. */
  readonly isUnresolved: boolean;
}

/** What is summed up of a conversation and what stays as it is. */
export interface CompactionPlan {
  readonly reason: CompactionReason;
  /** How many messages the summary stands for. */
  readonly summarised: number;
  /** Places of prompts before the tail that stay. */
  readonly prompts: readonly number[];
  /** How many messages at the end stay. */
  readonly kept: number;
  /** Estimated tokens of the request without the part that is summed up. */
  readonly remainingTokens: number;
  /** How many tokens the summary may be, and how many the request for it. */
  readonly summaryTokens: number;
  readonly requestTokens: number;
}

const LARGEST_SUMMARY = 8_000;
const SMALLEST_SUMMARY = 64;
/** Plain estimates are off by no more than this, whatever a provider reports. */
const CORRECTION = { least: 0.5, most: 4 } as const;

/**
 * What plain estimates are multiplied by, from what a provider reported for a request of a known estimate. A provider
 * that reports nothing, or what cannot be, changes little or nothing.
 */
export function correctionOf(estimated: number, reported: number): number {
  if (reported <= 0 || estimated <= 0) return 1;
  const factor = Math.min(CORRECTION.most, Math.max(CORRECTION.least, reported / estimated));
  return Math.round(factor * 100) / 100;
}

/** From how many tokens on a conversation is compacted before the next step. */
export function triggerOf({ window, compactAt, maxOutputTokens = 0 }: ContextLimits): number {
  return Math.floor(Math.min(compactAt * window, Math.max(window / 2, window - maxOutputTokens)));
}

/**
 * What a compaction would sum up; `undefined` when nothing is left to sum up. Cuts lie between whole messages and never
 * between an answer and the results of its calls. What stays: the current prompts, the last answer with everything
 * behind it, every answer with an unresolved call, and before that as much of the newest as fits.
 *
 * @param frameTokens of what is beside the conversation: system prompt and tools
 * @param earlierTokens of the summary that an earlier compaction left; it is summed up again
 */
export function planCompaction(
  messages: readonly PlannedMessage[],
  frameTokens: number,
  earlierTokens: number,
  reason: CompactionReason,
  limits: ContextLimits,
): CompactionPlan | undefined {
  const conversation = messages.reduce((sum, { tokens }) => sum + tokens, 0);
  const all = frameTokens + earlierTokens + conversation;
  // A provider that refused the request has a smaller window, or counts more, than was thought.
  const room = reason === 'overflow' ? Math.min(limits.window, all) : limits.window;
  const summaryTokens = Math.max(SMALLEST_SUMMARY, Math.min(LARGEST_SUMMARY, Math.floor(room / 8)));
  const most =
    reason === 'request'
      ? Math.min(room, conversation) / 4
      : tailTokens(messages, frameTokens + summaryTokens, { ...limits, window: room });
  const start = tailStart(messages, most);
  const prompts: number[] = [];
  let gone = 0;
  for (let place = 0; place < start; place++) {
    const message = messages[place] as PlannedMessage;
    if (message.isCurrentPrompt) prompts.push(place);
    else gone += message.tokens;
  }
  const summarised = start - prompts.length;
  if (summarised === 0) return undefined;
  // Near the window for other reasons: a summary at every step would cost much and gain nothing.
  if (reason === 'threshold' && gone < summaryTokens) return undefined;
  return {
    reason,
    summarised,
    prompts,
    kept: messages.length - start,
    remainingTokens: all - gone - earlierTokens,
    summaryTokens,
    requestTokens: Math.floor(reason === 'overflow' ? room / 2 : limits.window * 0.7),
  };
}

/** How much of the newest stays: a quarter of what there may be, and less where the rest leaves less room. */
function tailTokens(messages: readonly PlannedMessage[], besides: number, limits: ContextLimits): number {
  const fixed = messages.reduce((sum, message) => (message.isCurrentPrompt ? sum + message.tokens : sum), besides);
  return Math.min(limits.window / 4, Math.max(0, (triggerOf(limits) - fixed) / 2));
}

function tailStart(messages: readonly PlannedMessage[], tokens: number): number {
  let start = messages.length;
  let size = 0;
  for (let place = messages.length - 1; place >= 0; place--) {
    const message = messages[place] as PlannedMessage;
    if (!message.isCurrentPrompt) size += message.tokens;
    if (size > tokens) break;
    if (message.role !== 'tool') start = place;
  }
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const unresolved = messages.findIndex(({ isUnresolved }) => isUnresolved);
  return Math.min(start, last < 0 ? messages.length : last, unresolved < 0 ? messages.length : unresolved);
}
