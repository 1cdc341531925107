import type { SessionSnapshotV1 } from '@perdure/events';
import { PerdureError, type SnapshotStore } from '@perdure/plugin-api';
import { checkName, snapshotText } from '@perdure/plugin-api/store-input';

/** Snapshots in this process: the port `SnapshotStore` in its shortest form. */
export class MemorySnapshotStore implements SnapshotStore {
  readonly name = 'memory';
  readonly atomic = true;

  /** Text, so that neither side can change what the other one has. */
  private readonly texts = new Map<string, string>();
  private isClosed = false;

  async save(key: string, snapshot: SessionSnapshotV1): Promise<void> {
    this.checkOpen();
    checkName('key', key);
    this.texts.set(key, snapshotText(snapshot));
  }

  async load(key: string): Promise<SessionSnapshotV1 | undefined> {
    this.checkOpen();
    checkName('key', key);
    const text = this.texts.get(key);
    return text === undefined ? undefined : (JSON.parse(text) as SessionSnapshotV1);
  }

  async list(): Promise<readonly string[]> {
    this.checkOpen();
    return [...this.texts.keys()].sort();
  }

  async delete(key: string): Promise<void> {
    this.checkOpen();
    checkName('key', key);
    this.texts.delete(key);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}
