import type { Message } from './message.js';
import type { Mutation, PartContent } from './mutation.js';
import type { MessagePage } from './session-view.js';

/** What a user interface shows of a session: the messages that are stored, and the answer that grows behind them. */
export interface ConversationView {
  /** Equal to `messages()` at the same place, from the first message of the page that the view began with. */
  readonly messages: readonly Message[];
  readonly growing: GrowingAnswer | null;
  /** Behind this everything is still to come; a mutation that follows it brings no gap. */
  readonly cursor: string;
  /** The last mutation of the subscription; 0 before the first. */
  readonly sequence: number;
  /** A mutation is missing: begin again with `messages()`. */
  readonly isStale: boolean;
}

/** What has been seen of an answer that is not stored. */
export interface GrowingAnswer {
  readonly messageId: string;
  /** By their place in the answer; parts of which nothing is known yet are absent. */
  readonly parts: readonly (GrowingPart | undefined)[];
}

export interface GrowingPart {
  readonly content: PartContent;
  readonly text: string;
}

/** Where a client begins. Subscribe from `cursor`. */
export function conversationView({ items, cursor }: Pick<MessagePage, 'items' | 'cursor'>): ConversationView {
  return { messages: items, growing: null, cursor, sequence: 0, isStale: false };
}

/** The view behind a mutation. A mutation that was seen before changes nothing that is newer. */
export function applyMutation(view: ConversationView, mutation: Mutation): ConversationView {
  const { cursor, sequence } = mutation;
  const next = { ...view, cursor, sequence, isStale: view.isStale || sequence !== view.sequence + 1 };
  switch (mutation.variant) {
    case 'message':
      return withMessage(next, mutation.message);
    case 'part':
    case 'delta':
      return withPart(next, mutation);
    case 'turn':
      return mutation.type === 'start' ? next : { ...next, growing: null };
    case 'error':
      return mutation.scope === 'model' ? { ...next, growing: null } : next;
    default:
      return next;
  }
}

function withMessage(view: ConversationView, message: Message): ConversationView {
  const growing = view.growing?.messageId === message.id ? null : view.growing;
  const first = view.messages[0]?.sequence ?? message.sequence;
  const index = message.sequence - first;
  if (index < 0) return { ...view, growing };
  // A message that would leave a hole tells that others were missed.
  if (index > view.messages.length) return { ...view, growing, isStale: true };
  const before = view.messages[index];
  if (before !== undefined && before.revision >= message.revision) return { ...view, growing };
  const messages = [...view.messages];
  messages[index] = message;
  return { ...view, growing, messages };
}

function withPart(
  view: ConversationView,
  mutation: Extract<Mutation, { variant: 'part' | 'delta' }>,
): ConversationView {
  const { messageId, part } = mutation;
  // What becomes of a part of a stored answer is no part of its growth.
  if (view.messages.some(({ id }) => id === messageId)) return view;
  const parts = view.growing?.messageId === messageId ? [...view.growing.parts] : [];
  const before = parts[part];
  if (mutation.variant === 'part') parts[part] = { content: mutation.content, text: before?.text ?? '' };
  else if (before !== undefined) parts[part] = { ...before, text: before.text + mutation.delta };
  else return view;
  return { ...view, growing: { messageId, parts } };
}
