import { createHash } from 'node:crypto';
import { PerdureError, type ArtifactStore, type ByteRange } from '@perdure/plugin-api';
import { checkRange } from '@perdure/plugin-api/store-input';

/** Large bytes in this process: the port `ArtifactStore` in its shortest form. */
export class MemoryArtifactStore implements ArtifactStore {
  readonly name = 'memory';
  readonly limits = { maxBytes: 256 * 1024 * 1024 };

  private readonly artifacts = new Map<string | undefined, Map<string, Uint8Array>>();
  private isClosed = false;

  async put(tenant: string | undefined, bytes: Uint8Array): Promise<string> {
    this.checkOpen();
    const { maxBytes: limit } = this.limits;
    if (bytes.byteLength > limit) {
      throw new PerdureError('PERDURE_STORE_TOO_LARGE', { bytes: bytes.byteLength, limit });
    }
    const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    const owned = this.artifacts.get(tenant) ?? new Map<string, Uint8Array>();
    this.artifacts.set(tenant, owned);
    if (!owned.has(digest)) owned.set(digest, Uint8Array.from(bytes));
    return digest;
  }

  async get(tenant: string | undefined, digest: string, range: ByteRange = {}): Promise<Uint8Array | undefined> {
    this.checkOpen();
    checkRange(range);
    return this.artifacts.get(tenant)?.get(digest)?.slice(range.from, range.to);
  }

  async delete(tenant: string | undefined, digest: string): Promise<void> {
    this.checkOpen();
    this.artifacts.get(tenant)?.delete(digest);
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }

  private checkOpen(): void {
    if (this.isClosed) throw new PerdureError('PERDURE_STORE_CLOSED');
  }
}
