import {
  PerdureError,
  type ProjectionChange,
  type ProjectionCommit,
  type ProjectionRow,
  type ProjectionStore,
  type RowOptions,
} from '@perdure/plugin-api';
import { checkChange, checkName, checkRows } from '@perdure/plugin-api/store-input';
import type { Connections } from './connections.js';
import { streamKey } from './names.js';
import { keyBytes, keyText } from './text-key.js';

/**
 * Rows of projections in PostgreSQL. Commits survive the death of the process, and may be lost with the server's
 * machine: the checkpoint goes back with the rows, and the facts bring them again.
 */
export class PostgresProjectionStore implements ProjectionStore {
  readonly name = 'postgres';

  private readonly connections: Connections;
  private readonly schema: string;
  private readonly onClose: () => Promise<void>;
  private isClosed = false;

  constructor(connections: Connections, schema: string, onClose: () => Promise<void>) {
    this.connections = connections;
    this.schema = schema;
    this.onClose = onClose;
  }

  async checkpoint(projection: string): Promise<string | undefined> {
    this.checkOpen();
    checkName('projection', projection);
    const text = `select checkpoint from ${this.schema}.projection where key = $1`;
    const [row] = await this.connections.query({ name: 'checkpoint', text }, [streamKey(projection)]);
    return row === undefined || row[0] === null ? undefined : String(row[0]);
  }

  async rows(projection: string, options: RowOptions = {}): Promise<readonly ProjectionRow[]> {
    this.checkOpen();
    checkRows(projection, options);
    const { prefix = '', from = '', limit } = options;
    // Long keys do not fit into an index: it holds their beginnings, which order the rest but for what is alike there.
    const text = `select r.key, r.value from ${this.schema}.projection_row r
      where r.projection = (select p.id from ${this.schema}.projection p where p.key = $1)
        and substring(r.key for 1000) >= substring($2::bytea for 1000) and r.key >= $2::bytea
        and ($3::bytea is null or (substring(r.key for 1000) <= substring($3::bytea for 1000) and r.key < $3::bytea))
        and substring(r.key for octet_length($4::bytea)) = $4::bytea
      order by substring(r.key for 1000), r.key limit $5::bigint`;
    const rows = await this.connections.query({ name: 'rows', text }, [
      streamKey(projection),
      keyBytes(from > prefix ? from : prefix),
      endOf(prefix),
      keyBytes(prefix),
      limit ?? null,
    ]);
    return rows.map(([key, value]) => ({ key: keyText(key as Buffer), value: String(value) }));
  }

  async commit(projection: string, change: ProjectionChange): Promise<ProjectionCommit> {
    this.checkOpen();
    checkChange(projection, change);
    const { expected, checkpoint, put, remove } = change;
    const [row] = await this.connections.query(
      { name: 'commit', text: `select stored, actual from ${this.schema}.commit_v1($1, $2, $3, $4, $5, $6, $7)` },
      [
        streamKey(projection),
        projection,
        expected ?? null,
        checkpoint,
        put.map(({ key }) => keyBytes(key)),
        put.map(({ value }) => value),
        remove.map((key) => keyBytes(key)),
      ],
    );
    if (row?.[0] === true) return { status: 'stored' };
    const actual = row?.[1] ?? undefined;
    return { status: 'conflict', actual: actual === undefined ? undefined : String(actual) };
  }

  async clear(projection: string): Promise<void> {
    this.checkOpen();
    checkName('projection', projection);
    const text = `delete from ${this.schema}.projection where key = $1`;
    await this.connections.query({ name: 'clear', text }, [streamKey(projection)]);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.onClose();
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}

/** The first key behind all that begin with a prefix; `null` when nothing is. */
function endOf(prefix: string): Uint8Array | null {
  for (let length = prefix.length; length > 0; length--) {
    const last = prefix.charCodeAt(length - 1);
    if (last < 0xffff) return keyBytes(prefix.slice(0, length - 1) + String.fromCharCode(last + 1));
  }
  return null;
}
