import type { RecordedFact } from '@perdure/events';

/** Facts of one stream that were stored together, as followers hear of them. */
export interface Announcement {
  readonly stream: string;
  /** Revisions of the first and the last fact. */
  readonly first: number;
  readonly last: number;
  /** Positions before the first and of the last fact. */
  readonly behind: number;
  readonly position: number;
  /** Absent when nobody has read them yet. */
  readonly facts?: readonly RecordedFact[];
}
