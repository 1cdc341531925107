import type { RunStatus } from '@perdure/events';
import type { Message } from './message.js';

/**
 * A change as user interfaces want it. `cursor` is the place in the session after which this came: a listener that
 * joins later reads `messages()` and drops what is not newer.
 */
export type Mutation = MessageMutation | DeltaMutation | TurnMutation | SessionMutation | TitleMutation;

interface MutationBase {
  readonly sessionId: string;
  readonly cursor: string;
}

/** A message came, or changed: the whole message. */
export interface MessageMutation extends MutationBase {
  readonly variant: 'message';
  readonly message: Message;
}

/** A part of an answer grew. `messageId` is the id that the whole answer will have. */
export interface DeltaMutation extends MutationBase {
  readonly variant: 'delta';
  readonly type: 'text' | 'reasoning' | 'tool-input';
  readonly messageId: string;
  readonly part: number;
  readonly delta: string;
}

export interface TurnMutation extends MutationBase {
  readonly variant: 'turn';
  readonly type: 'start' | 'finish';
  readonly turnId: string;
  readonly status: 'running' | RunStatus;
}

export interface SessionMutation extends MutationBase {
  readonly variant: 'session';
  readonly type: 'config';
  readonly model: string | null;
}

/** The session has another title. */
export interface TitleMutation extends MutationBase {
  readonly variant: 'session';
  readonly type: 'title';
  readonly title: string;
}
