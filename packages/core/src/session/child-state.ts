import type { Delegation, PayloadOf, SessionProfile } from '@perdure/events';

/** A session that a call of this one handed work to. */
export interface ChildState {
  readonly childId: string;
  readonly description: string;
  /** The call does not wait for it. */
  readonly background?: true;
  readonly model?: string;
  readonly delegation: Delegation;
  readonly profile: SessionProfile;
  /** The turn whose stop is the child's too; absent when a host made the call. */
  readonly turnId?: string;
  readonly startedAt: number;
  /** It is to end: its turn was stopped, or its call is over. */
  readonly isStopped?: true;
  /** How it ended, until the call that waits for it is settled. */
  readonly ended?: ChildEnd;
}

export type ChildEnd = Omit<PayloadOf<'ChildEnded'>, 'childId' | 'callId' | 'agent'>;
