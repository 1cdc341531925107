import { isSoftDeleted, type StreamMetadata } from './stream-metadata.js';

/** The first revision that readers of a stream may see; more than `head` when they see nothing. */
export function firstVisibleRevision(metadata: StreamMetadata, head: number): number {
  if (isSoftDeleted(metadata)) return head + 1;
  const { $maxCount, $tb } = metadata;
  const byCount = $maxCount === undefined ? 0 : head - $maxCount + 1;
  return Math.max(0, byCount, $tb ?? 0);
}

/** Whether an event is too old to be shown. Times are milliseconds since the epoch. */
export function isExpired({ $maxAge }: StreamMetadata, created: number, now: number): boolean {
  return $maxAge !== undefined && created < now - $maxAge * 1000;
}
