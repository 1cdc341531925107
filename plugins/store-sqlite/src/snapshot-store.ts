import { crc32 } from 'node:zlib';
import type { SessionSnapshotV1 } from '@perdure/events';
import { PerdureError, type SnapshotStore } from '@perdure/plugin-api';
import type { Database, RowStatement } from './database.js';
import { checkName, snapshotText } from '@perdure/plugin-api/store-input';
import { damaged, guarded } from './sqlite-error.js';
import { keyBytes, keyText } from './text-key.js';

/** Snapshots in a SQLite file, each one row. */
export class SqliteSnapshotStore implements SnapshotStore {
  readonly name = 'sqlite';
  readonly atomic = true;

  private readonly database: Database;
  private readonly onClose: () => void;
  private readonly put: RowStatement<[]>;
  private readonly select: RowStatement<readonly [value: string, seal: number]>;
  private readonly keys: RowStatement<readonly [key: Uint8Array]>;
  private readonly remove: RowStatement<[]>;
  private isClosed = false;

  constructor(database: Database, onClose: () => void) {
    this.database = database;
    this.onClose = onClose;
    this.put = database.prepare(
      `insert into snapshot (key, value, seal) values (?, ?, ?)
       on conflict (key) do update set value = excluded.value, seal = excluded.seal`,
    );
    this.select = database.prepare('select value, seal from snapshot where key = ?');
    this.keys = database.prepare('select key from snapshot order by key');
    this.remove = database.prepare('delete from snapshot where key = ?');
  }

  async save(key: string, snapshot: SessionSnapshotV1): Promise<void> {
    this.checkOpen();
    checkName('key', key);
    const text = snapshotText(snapshot);
    guarded(() => this.database.write('durable', () => this.put.run(keyBytes(key), text, snapshotSeal(key, text))));
  }

  async load(key: string): Promise<SessionSnapshotV1 | undefined> {
    this.checkOpen();
    checkName('key', key);
    const row = guarded(() => this.select.get(keyBytes(key)));
    if (row === undefined) return undefined;
    const [text, seal] = row;
    if (seal !== snapshotSeal(key, text)) throw damaged(`the snapshot "${key}" is not what was written`);
    return JSON.parse(text) as SessionSnapshotV1;
  }

  async list(): Promise<readonly string[]> {
    this.checkOpen();
    return guarded(() => this.keys.all().map(([key]) => keyText(key)));
  }

  async delete(key: string): Promise<void> {
    this.checkOpen();
    checkName('key', key);
    guarded(() => this.database.write('durable', () => this.remove.run(keyBytes(key))));
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.onClose();
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}

function snapshotSeal(key: string, text: string): number {
  return crc32(text, crc32(key)) | 0;
}
