import { crc32 } from 'node:zlib';
import type { SessionSnapshotV1 } from '@perdure/events';
import { PerdureError, type SnapshotStore } from '@perdure/plugin-api';
import { checkName, snapshotText } from '@perdure/plugin-api/store-input';
import type { Connections } from './connections.js';
import { streamKey } from './names.js';
import { damaged } from './postgres-error.js';

/** Snapshots in PostgreSQL, each one row. */
export class PostgresSnapshotStore implements SnapshotStore {
  readonly name = 'postgres';
  readonly atomic = true;

  private readonly connections: Connections;
  private readonly schema: string;
  private readonly onClose: () => Promise<void>;
  private isClosed = false;

  constructor(connections: Connections, schema: string, onClose: () => Promise<void>) {
    this.connections = connections;
    this.schema = schema;
    this.onClose = onClose;
  }

  async save(key: string, snapshot: SessionSnapshotV1): Promise<void> {
    this.checkOpen();
    checkName('key', key);
    const value = snapshotText(snapshot);
    const text = `insert into ${this.schema}.snapshot (key, name, seal, value) values ($1, $2, $3, $4)
      on conflict (key) do update set seal = excluded.seal, value = excluded.value`;
    await this.connections.query({ name: 'save', text }, [streamKey(key), key, snapshotSeal(key, value), value]);
  }

  async load(key: string): Promise<SessionSnapshotV1 | undefined> {
    this.checkOpen();
    checkName('key', key);
    const text = `select seal, value from ${this.schema}.snapshot where key = $1`;
    const [row] = await this.connections.query({ name: 'load', text }, [streamKey(key)]);
    if (row === undefined) return undefined;
    const [seal, value] = row;
    if (typeof value !== 'string' || Number(seal) !== snapshotSeal(key, value)) {
      throw damaged(`the snapshot "${key}" is not what was written`);
    }
    return JSON.parse(value) as SessionSnapshotV1;
  }

  async list(): Promise<readonly string[]> {
    this.checkOpen();
    const text = `select name from ${this.schema}.snapshot order by name`;
    return (await this.connections.query({ name: 'list', text }, [])).map(([name]) => String(name));
  }

  async delete(key: string): Promise<void> {
    this.checkOpen();
    checkName('key', key);
    const text = `delete from ${this.schema}.snapshot where key = $1`;
    await this.connections.query({ name: 'delete', text }, [streamKey(key)]);
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

function snapshotSeal(key: string, text: string): number {
  return crc32(text, crc32(key));
}
