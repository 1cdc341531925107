import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { PerdureError, type ArtifactStore, type ByteRange } from '@perdure/plugin-api';
import { checkRange } from '@perdure/plugin-api/store-input';
import type { Connections, Row } from './connections.js';
import { streamKey } from './names.js';
import { damaged } from './postgres-error.js';

/** Bytes of one chunk, and chunks that are read at once. */
const CHUNK = 256 * 1024;
const CHUNKS_AT_ONCE = 16;

/** Large bytes in PostgreSQL, in chunks, so that a range reads no more than it needs. */
export class PostgresArtifactStore implements ArtifactStore {
  readonly name = 'postgres';
  readonly limits: { readonly maxBytes: number };

  private readonly connections: Connections;
  private readonly schema: string;
  private readonly onClose: () => Promise<void>;
  private isClosed = false;

  constructor(connections: Connections, schema: string, maxBytes: number, onClose: () => Promise<void>) {
    this.connections = connections;
    this.schema = schema;
    this.limits = { maxBytes };
    this.onClose = onClose;
  }

  async put(tenant: string | undefined, given: Uint8Array): Promise<string> {
    this.checkOpen();
    const { maxBytes: limit } = this.limits;
    const size = given.byteLength;
    if (size > limit) throw new PerdureError('PERDURE_STORE_TOO_LARGE', { bytes: size, limit });
    // The caller may change its bytes while they are on their way.
    const bytes = Buffer.from(given);
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const owner = ownerOf(tenant);
    if ((await this.find(owner, digest)) !== undefined) return digest;
    const add = `insert into ${this.schema}.artifact (key, owner, digest, size) values ($1, $2, $3, $4)
      on conflict (key) do nothing returning id`;
    const addChunk = `insert into ${this.schema}.artifact_chunk (artifact, number, seal, bytes)
      values ($1, $2, $3, $4)`;
    await this.connections.transaction(async (transaction) => {
      const values = [streamKey(`${owner} ${digest}`), owner, digest, size];
      const [row] = await transaction.query({ name: 'add-artifact', text: add }, values);
      // Another one stored the same bytes just now: it was waited for.
      if (row === undefined) return;
      for (let at = 0; at < size; at += CHUNK) {
        const chunk = bytes.subarray(at, at + CHUNK);
        const number = at / CHUNK;
        await transaction.query({ name: 'add-chunk', text: addChunk }, [row[0], number, sealOf(number, chunk), chunk]);
      }
    });
    return digest;
  }

  async get(tenant: string | undefined, digest: string, range: ByteRange = {}): Promise<Uint8Array | undefined> {
    this.checkOpen();
    checkRange(range);
    const artifact = await this.find(ownerOf(tenant), digest);
    if (artifact === undefined) return undefined;
    const to = Math.min(range.to ?? artifact.size, artifact.size);
    const from = Math.min(range.from ?? 0, to);
    const bytes = new Uint8Array(to - from);
    const end = Math.ceil(to / CHUNK);
    let filled = 0;
    for (let number = Math.floor(from / CHUNK); number < end && filled < bytes.byteLength; number += CHUNKS_AT_ONCE) {
      const rows = await this.chunks(artifact.id, number, Math.min(number + CHUNKS_AT_ONCE, end));
      for (const [index, row] of rows.entries()) {
        const chunk = chunkOf(row, number + index, digest);
        const start = (number + index) * CHUNK;
        const part = chunk.subarray(Math.max(from - start, 0), Math.max(to - start, 0));
        if (filled + part.byteLength > bytes.byteLength) throw damagedArtifact(digest);
        bytes.set(part, filled);
        filled += part.byteLength;
      }
    }
    if (filled === bytes.byteLength) return bytes;
    // Deleted while it was read.
    if ((await this.find(ownerOf(tenant), digest))?.id !== artifact.id) return undefined;
    throw damagedArtifact(digest);
  }

  async delete(tenant: string | undefined, digest: string): Promise<void> {
    this.checkOpen();
    const text = `delete from ${this.schema}.artifact where key = $1`;
    await this.connections.query({ name: 'delete-artifact', text }, [streamKey(`${ownerOf(tenant)} ${digest}`)]);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    await this.onClose();
  }

  private async find(
    owner: string,
    digest: string,
  ): Promise<{ readonly id: string; readonly size: number } | undefined> {
    const text = `select id, size from ${this.schema}.artifact where key = $1`;
    const [row] = await this.connections.query({ name: 'artifact', text }, [streamKey(`${owner} ${digest}`)]);
    return row === undefined ? undefined : { id: String(row[0]), size: Number(row[1]) };
  }

  private chunks(artifact: string, from: number, to: number): Promise<readonly Row[]> {
    const text = `select number, seal, bytes from ${this.schema}.artifact_chunk
      where artifact = $1 and number >= $2 and number < $3 order by number`;
    return this.connections.query({ name: 'chunks', text }, [artifact, from, to]);
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}

function chunkOf([found, seal, bytes]: Row, number: number, digest: string): Buffer {
  const isSound = found === number && Buffer.isBuffer(bytes) && Number(seal) === sealOf(number, bytes);
  if (!isSound) throw damagedArtifact(digest);
  return bytes;
}

/** No tenant's name can spell the absence of a tenant. */
function ownerOf(tenant: string | undefined): string {
  return tenant === undefined ? '_' : `=${tenant}`;
}

function sealOf(number: number, bytes: Uint8Array): number {
  return crc32(bytes, crc32(String(number)));
}

function damagedArtifact(digest: string): PerdureError {
  return damaged(`the artifact "${digest}" is not what was written`);
}
