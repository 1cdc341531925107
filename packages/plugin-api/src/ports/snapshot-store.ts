import type { SessionSnapshotV1 } from '@perdure/events';

/** Keeps whole sessions in their exchange form. A save is one atomic call: readers see the old one or the new one. */
export interface SnapshotStore {
  readonly name: string;
  /** Whether a save is one call that is whole or not there. Without it `save` answers PERDURE_SNAPSHOT_UNSUPPORTED. */
  readonly atomic: boolean;
  save(key: string, snapshot: SessionSnapshotV1): Promise<void>;
  /** What was saved, unknown members included. Throws PERDURE_STORE_DAMAGED: nothing takes its place in silence. */
  load(key: string): Promise<SessionSnapshotV1 | undefined>;
  /** The keys, without reading what is saved under them. */
  list(): Promise<readonly string[]>;
  delete(key: string): Promise<void>;
  close(): Promise<void>;
}
