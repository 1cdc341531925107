import { readSnapshot, type SessionSnapshotV1 } from '@perdure/events';

/** A snapshot of so many messages, whole only if it says so itself. */
export function snapshotOf(id: string, count: number): SessionSnapshotV1 {
  const messages = Array.from({ length: count }, (_, index) => ({
    id: `m${index}`,
    sequence: index + 1,
    revision: 1,
    turnId: 't',
    createdAt: 1,
    role: 'user',
    mode: 'turn',
    parts: [{ type: 'text', text: `message ${index} of ${count} ${'x'.repeat(500)}` }],
  }));
  const read = readSnapshot({ id, messages, updated_at: count });
  if (!read.ok) throw new Error(read.fault.reason);
  return read.snapshot;
}

/** Whether a snapshot is one that `snapshotOf` made. */
export function isWhole({ session }: SessionSnapshotV1): boolean {
  return session.messages.length === session.updated_at;
}
