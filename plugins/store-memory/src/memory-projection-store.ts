import {
  PerdureError,
  type ProjectionChange,
  type ProjectionCommit,
  type ProjectionRow,
  type ProjectionStore,
  type RowOptions,
} from '@perdure/plugin-api';
import { checkChange, checkName, checkRows } from '@perdure/plugin-api/store-input';

interface Projection {
  readonly checkpoint: string;
  readonly rows: Map<string, string>;
}

/** Rows of projections in this process: the port `ProjectionStore` in its shortest form. */
export class MemoryProjectionStore implements ProjectionStore {
  readonly name = 'memory';

  private readonly projections = new Map<string, Projection>();
  private isClosed = false;

  async checkpoint(projection: string): Promise<string | undefined> {
    this.checkOpen();
    checkName('projection', projection);
    return this.projections.get(projection)?.checkpoint;
  }

  async rows(projection: string, options: RowOptions = {}): Promise<readonly ProjectionRow[]> {
    this.checkOpen();
    checkRows(projection, options);
    const { prefix = '', from = '', limit } = options;
    const rows = this.projections.get(projection)?.rows ?? new Map<string, string>();
    // The order of texts in JavaScript is the one by code unit.
    const keys = [...rows.keys()].filter((key) => key.startsWith(prefix) && key >= from).sort();
    return keys.slice(0, limit).map((key) => ({ key, value: rows.get(key) ?? '' }));
  }

  async commit(projection: string, change: ProjectionChange): Promise<ProjectionCommit> {
    this.checkOpen();
    checkChange(projection, change);
    const known = this.projections.get(projection);
    if (known?.checkpoint !== change.expected) return { status: 'conflict', actual: known?.checkpoint };
    const rows = known?.rows ?? new Map<string, string>();
    for (const key of change.remove) rows.delete(key);
    for (const { key, value } of change.put) rows.set(key, value);
    this.projections.set(projection, { checkpoint: change.checkpoint, rows });
    return { status: 'stored' };
  }

  async clear(projection: string): Promise<void> {
    this.checkOpen();
    checkName('projection', projection);
    this.projections.delete(projection);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}
