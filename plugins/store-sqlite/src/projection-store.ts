import { crc32 } from 'node:zlib';
import {
  PerdureError,
  type ProjectionChange,
  type ProjectionCommit,
  type ProjectionRow,
  type ProjectionStore,
  type RowOptions,
} from '@perdure/plugin-api';
import type { Database, RowStatement } from './database.js';
import { checkChange, checkName, checkRows } from '@perdure/plugin-api/store-input';
import { damaged, guarded } from './sqlite-error.js';
import { keyBytes, keyText } from './text-key.js';

/**
 * Rows of projections in a SQLite file. Commits survive the death of the process, and may be lost with the machine:
 * the checkpoint goes back with the rows, and the facts bring them again.
 */
export class SqliteProjectionStore implements ProjectionStore {
  readonly name = 'sqlite';

  private readonly database: Database;
  private readonly onClose: () => void;
  private readonly find: RowStatement<readonly [id: number, checkpoint: string | null]>;
  private readonly make: RowStatement<[]>;
  private readonly moveCheckpoint: RowStatement<[]>;
  private readonly select: RowStatement<readonly [key: Uint8Array, value: string, seal: number]>;
  private readonly put: RowStatement<[]>;
  private readonly removeRow: RowStatement<[]>;
  private readonly removeRows: RowStatement<[]>;
  private isClosed = false;

  constructor(database: Database, onClose: () => void) {
    this.database = database;
    this.onClose = onClose;
    this.find = database.prepare('select id, checkpoint from projection where name = ?');
    this.make = database.prepare('insert into projection (name, checkpoint) values (?, ?)');
    this.moveCheckpoint = database.prepare('update projection set checkpoint = ? where id = ?');
    this.select = database.prepare(
      'select key, value, seal from projection_row where projection = ? and key >= ? order by key',
    );
    this.put = database.prepare(
      `insert into projection_row (projection, key, value, seal) values (?, ?, ?, ?)
       on conflict (projection, key) do update set value = excluded.value, seal = excluded.seal`,
    );
    this.removeRow = database.prepare('delete from projection_row where projection = ? and key = ?');
    this.removeRows = database.prepare('delete from projection_row where projection = ?');
  }

  async checkpoint(projection: string): Promise<string | undefined> {
    this.checkOpen();
    checkName('projection', projection);
    return guarded(() => this.find.get(projection)?.[1] ?? undefined);
  }

  async rows(projection: string, options: RowOptions = {}): Promise<readonly ProjectionRow[]> {
    this.checkOpen();
    checkRows(projection, options);
    const { prefix = '', from = '', limit = Infinity } = options;
    return guarded(() =>
      this.database.read(() => {
        const id = this.find.get(projection)?.[0];
        const rows: ProjectionRow[] = [];
        if (id === undefined) return rows;
        for (const [bytes, value, seal] of this.select.iterate(id, keyBytes(from > prefix ? from : prefix))) {
          const key = keyText(bytes);
          if (!key.startsWith(prefix) || rows.length >= limit) break;
          if (seal !== rowSeal(key, value))
            throw damaged(`a row of the projection "${projection}" is not what was written`);
          rows.push({ key, value });
        }
        return rows;
      }),
    );
  }

  async commit(projection: string, change: ProjectionChange): Promise<ProjectionCommit> {
    this.checkOpen();
    checkChange(projection, change);
    return guarded(() => this.database.write('weak', () => this.apply(projection, change)));
  }

  async clear(projection: string): Promise<void> {
    this.checkOpen();
    checkName('projection', projection);
    guarded(() =>
      this.database.write('weak', () => {
        const id = this.find.get(projection)?.[0];
        if (id === undefined) return;
        this.removeRows.run(id);
        this.moveCheckpoint.run(null, id);
      }),
    );
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.onClose();
  }

  private apply(projection: string, { expected, checkpoint, put, remove }: ProjectionChange): ProjectionCommit {
    const [known, current] = this.find.get(projection) ?? [];
    const actual = current ?? undefined;
    if (actual !== expected) return { status: 'conflict', actual };
    let id = known;
    if (id === undefined) id = Number(this.make.run(projection, checkpoint).lastInsertRowid);
    else this.moveCheckpoint.run(checkpoint, id);
    for (const key of remove) this.removeRow.run(id, keyBytes(key));
    for (const { key, value } of put) this.put.run(id, keyBytes(key), value, rowSeal(key, value));
    return { status: 'stored' };
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}

function rowSeal(key: string, value: string): number {
  return crc32(value, crc32(key)) | 0;
}
