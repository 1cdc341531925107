import type { ProposedEvent } from '../log/transaction.js';

export interface StoredEvent extends ProposedEvent {
  readonly stream: string;
  /** The revision in its stream; `tombstone` for the event that ends a stream for ever. */
  readonly revision: number | 'tombstone';
  /** The place in the whole log. */
  readonly position: number;
  /** Milliseconds since the epoch. */
  readonly created: number;
}

/** The type of the event that a tombstone is in the log of all events. */
export const TOMBSTONE_EVENT = '$streamDeleted';
