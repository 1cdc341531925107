import type { CompactionReason } from '@perdure/events';
import type { Message } from '@perdure/plugin-api';
import { currentTurn, type SessionState } from '../session/session-state.js';
import {
  correctionOf,
  planCompaction,
  triggerOf,
  type CompactionPlan,
  type ContextLimits,
  type PlannedMessage,
} from './compaction-plan.js';
import { estimateTokens, sizeOfMessage } from './message-size.js';
import { renderMessage } from './render-message.js';
import type { RequestHistory } from './request-history.js';

/** A plan with what it was decided with. */
export interface DecidedCompaction extends CompactionPlan {
  /** Estimated tokens of the whole request. */
  readonly tokensBefore: number;
  readonly window: number;
  readonly correction: number;
}

/** Whether, and how, a conversation is made shorter. */
export interface Compactable {
  readonly state: SessionState;
  /** Brought to the state, and to the messages that join. */
  readonly history: RequestHistory;
  /** Characters of what is beside the conversation. */
  readonly frame: number;
  readonly limits: ContextLimits;
}

/**
 * The plan of a compaction. One for the threshold is there only when the request would reach it. Nothing that depends
 * on the length of the conversation is done before that.
 *
 * @param told the tokens of the request, where they are known from a record
 */
export function decideCompaction(
  of: Compactable,
  reason: CompactionReason,
  told?: number,
): DecidedCompaction | undefined {
  const { state, history, frame, limits } = of;
  const correction = correctionAt(of);
  const corrected = (characters: number): number => Math.ceil(estimateTokens(characters) * correction);
  const tokensBefore = told ?? corrected(frame + history.characters);
  if (reason === 'threshold' && tokensBefore < triggerOf(limits)) return undefined;
  const messages = plannedMessages(state, corrected);
  const earlier = state.summary === undefined ? 0 : corrected(history.charactersOf(1));
  const plan = planCompaction(messages, corrected(frame), earlier, reason, limits);
  return plan === undefined ? undefined : { ...plan, tokensBefore, window: limits.window, correction };
}

/** From the usage of the last answer: its request was what the list held then, and what is beside it. */
function correctionAt({ state, history, frame }: Compactable): number {
  const { measured, correction = 1 } = state;
  if (measured === undefined) return correction;
  const messages = measured.messages + (state.summary === undefined ? 0 : 1);
  return correctionOf(estimateTokens(frame + history.charactersOf(messages)), measured.inputTokens);
}

function plannedMessages(state: SessionState, corrected: (characters: number) => number): PlannedMessage[] {
  const context = Array.from(state.context, (place) => state.messages.at(place) as Message);
  const current = currentTurn(state)?.turnId ?? context.at(-1)?.turnId;
  return context.map((message, place) => ({
    role: message.role,
    tokens: corrected(sizeOfMessage(renderMessage(message))),
    isCurrentPrompt: message.role === 'user' && message.turnId === current,
    isUnresolved: isUnresolved(message, context[place + 1]),
  }));
}

/** Calls of an answer that broke off were never made. */
function isUnresolved(message: Message, next: Message | undefined): boolean {
  if (message.role !== 'assistant' || message.status !== 'complete') return false;
  const results = new Set(next?.role === 'tool' ? next.parts.map(({ callId }) => callId) : []);
  return message.parts.some((part) => part.type === 'tool-call' && !results.has(part.callId));
}
