import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { PerdureError, type ArtifactStore, type ByteRange } from '@perdure/plugin-api';
import type { Database, RowStatement } from './database.js';
import { checkRange } from '@perdure/plugin-api/store-input';
import { damaged, guarded } from './sqlite-error.js';

const CHUNK = 64 * 1024;
/** Chunks of one artifact have neighbouring places. */
const PLACES = 65_536;

/** Large bytes in a SQLite file, in chunks, so that a range reads no more than it needs. */
export class SqliteArtifactStore implements ArtifactStore {
  readonly name = 'sqlite';
  readonly limits: { readonly maxBytes: number };

  private readonly database: Database;
  private readonly onClose: () => void;
  private readonly find: RowStatement<readonly [id: number, size: number, seal: number]>;
  private readonly make: RowStatement<[]>;
  private readonly remove: RowStatement<[]>;
  private readonly addChunk: RowStatement<[]>;
  private readonly chunks: RowStatement<readonly [place: number, bytes: Uint8Array, seal: number]>;
  private readonly removeChunks: RowStatement<[]>;
  private isClosed = false;

  constructor(database: Database, maxBytes: number, onClose: () => void) {
    this.limits = { maxBytes };
    this.database = database;
    this.onClose = onClose;
    this.find = database.prepare('select id, size, seal from artifact where owner = ? and digest = ?');
    this.make = database.prepare('insert into artifact (owner, digest, size, seal) values (?, ?, ?, ?)');
    this.remove = database.prepare('delete from artifact where id = ?');
    this.addChunk = database.prepare('insert into artifact_chunk (place, bytes, seal) values (?, ?, ?)');
    this.chunks = database.prepare(
      'select place, bytes, seal from artifact_chunk where place between ? and ? order by place',
    );
    this.removeChunks = database.prepare('delete from artifact_chunk where place between ? and ?');
  }

  async put(tenant: string | undefined, bytes: Uint8Array): Promise<string> {
    this.checkOpen();
    const { maxBytes: limit } = this.limits;
    const size = bytes.byteLength;
    if (size > limit) throw new PerdureError('PERDURE_STORE_TOO_LARGE', { bytes: size, limit });
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const owner = ownerOf(tenant);
    guarded(() =>
      this.database.write('durable', () => {
        if (this.find.get(owner, digest) !== undefined) return;
        const id = Number(this.make.run(owner, digest, size, artifactSeal(owner, digest, size)).lastInsertRowid);
        for (let at = 0; at < size; at += CHUNK) {
          const chunk = bytes.subarray(at, at + CHUNK);
          const place = id * PLACES + at / CHUNK;
          this.addChunk.run(place, chunk, chunkSeal(place, chunk));
        }
      }),
    );
    return digest;
  }

  async get(tenant: string | undefined, digest: string, range: ByteRange = {}): Promise<Uint8Array | undefined> {
    this.checkOpen();
    checkRange(range);
    const owner = ownerOf(tenant);
    return guarded(() =>
      this.database.read(() => {
        const row = this.find.get(owner, digest);
        if (row === undefined) return undefined;
        const [id, size, seal] = row;
        if (seal !== artifactSeal(owner, digest, size)) throw damagedArtifact(digest);
        const to = Math.min(range.to ?? size, size);
        return this.bytes(id, Math.min(range.from ?? 0, to), to, digest);
      }),
    );
  }

  async delete(tenant: string | undefined, digest: string): Promise<void> {
    this.checkOpen();
    const owner = ownerOf(tenant);
    guarded(() =>
      this.database.write('durable', () => {
        const id = this.find.get(owner, digest)?.[0];
        if (id === undefined) return;
        this.remove.run(id);
        this.removeChunks.run(id * PLACES, id * PLACES + PLACES - 1);
      }),
    );
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.onClose();
  }

  private bytes(id: number, from: number, to: number, digest: string): Uint8Array {
    const bytes = new Uint8Array(to - from);
    const first = Math.floor(from / CHUNK);
    let filled = 0;
    for (const [place, chunk, seal] of this.chunks.iterate(
      id * PLACES + first,
      id * PLACES + Math.ceil(to / CHUNK) - 1,
    )) {
      if (!(chunk instanceof Uint8Array) || seal !== chunkSeal(place, chunk)) throw damagedArtifact(digest);
      const start = (place - id * PLACES) * CHUNK;
      const part = chunk.subarray(Math.max(from - start, 0), Math.max(to - start, 0));
      if (filled + part.byteLength > bytes.byteLength) throw damagedArtifact(digest);
      bytes.set(part, filled);
      filled += part.byteLength;
    }
    if (filled !== bytes.byteLength) throw damagedArtifact(digest);
    return bytes;
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}

/** No tenant's name can spell the absence of a tenant. */
function ownerOf(tenant: string | undefined): string {
  return tenant === undefined ? '_' : `=${tenant}`;
}

function artifactSeal(owner: string, digest: string, size: number): number {
  return crc32(`${owner} ${digest} ${size}`) | 0;
}

function chunkSeal(place: number, bytes: Uint8Array): number {
  return crc32(bytes, crc32(String(place))) | 0;
}

function damagedArtifact(digest: string): Error {
  return damaged(`the artifact "${digest}" is not what was written`);
}
