/** Bytes too large for a fact, addressed by tenant and content. The same bytes are stored once per tenant. */
export interface ArtifactStore {
  readonly name: string;
  readonly limits: { readonly maxBytes: number };

  /** Stores bytes; they are durable when the promise resolves. Returns their digest, `sha256:<64 hex>`. */
  put(tenant: string | undefined, bytes: Uint8Array): Promise<string>;

  /**
   * The bytes, or the range of them from `from` up to before `to`; `undefined` when the tenant has no such artifact.
   */
  get(tenant: string | undefined, digest: string, range?: ByteRange): Promise<Uint8Array | undefined>;

  delete(tenant: string | undefined, digest: string): Promise<void>;

  close(): Promise<void>;
}

export interface ByteRange {
  readonly from?: number;
  readonly to?: number;
}
