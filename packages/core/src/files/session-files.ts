import type { AnswerPart, ArtifactReference, FilePart, SessionKey } from '@perdure/events';
import {
  filesOf,
  PerdureError,
  reasonOf,
  type ArtifactStore,
  type ByteRange,
  type Logger,
  type SessionArtifacts,
  type ToolFile,
} from '@perdure/plugin-api';
import { digestOfBytes } from '../host/sha256.js';
import type { Redaction } from '../secrets/redaction.js';
import type { AppendList } from '../session/append-list.js';
import { isObject } from '../session/session-input.js';
import type { ByteCache } from './byte-cache.js';
import type { ResolvedFileOptions } from './file-options.js';
import { safeFilename } from './given-file.js';
import { knownBytes, readMediaType } from './media-type.js';

/** What files of a session are kept, found and shown with. */
export interface FileGround {
  readonly key: SessionKey;
  readonly store: ArtifactStore | undefined;
  readonly cache: ByteCache<Uint8Array | string>;
  readonly redaction: Redaction;
  readonly logger: Logger;
  /** The artifacts that the session's facts name, in their order. */
  readonly named: () => AppendList<ArtifactReference>;
  readonly options: () => ResolvedFileOptions & { readonly outputCharacters: number };
  /** Of the session, also before its first fact. */
  readonly workspace: () => string | undefined;
}

/** A file that is ready to be kept. */
export interface ReadyFile {
  readonly part: FilePart & { readonly artifact: ArtifactReference };
  readonly bytes: Uint8Array;
}

/** The files of one session: its own part of the artifact store, and nothing else of it. */
export class SessionFiles implements SessionArtifacts {
  private readonly known = new Map<string, ArtifactReference>();
  private seen: AppendList<ArtifactReference> | undefined;

  constructor(readonly ground: FileGround) {}

  get options(): ReturnType<FileGround['options']> {
    return this.ground.options();
  }

  get outputCharacters(): number {
    return this.options.outputCharacters;
  }

  find(digest: string): ArtifactReference | undefined {
    const named = this.ground.named();
    const before = this.seen?.length ?? 0;
    if (named.length < before) this.known.clear();
    for (let index = named.length < before ? 0 : before; index < named.length; index++) {
      const reference = named.at(index);
      if (reference !== undefined) this.known.set(reference.digest, reference);
    }
    this.seen = named;
    return this.known.get(digest);
  }

  async read(digest: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    return this.find(digest) === undefined ? undefined : this.bytesOf(digest, range);
  }

  /** The bytes of an artifact that the session's facts name, kept for the next request. */
  whole(digest: string): Promise<Uint8Array | undefined> {
    const key = this.cacheKey('bytes', digest);
    return this.ground.cache.get(key, () => this.bytesOf(digest)) as Promise<Uint8Array | undefined>;
  }

  /** A text made of the bytes, kept for the next request. `kind` tells it from others of the same bytes. */
  textOf(kind: string, digest: string, make: (bytes: Uint8Array) => string): Promise<string | undefined> {
    const load = async (): Promise<string | undefined> => {
      const bytes = await this.bytesOf(digest);
      return bytes === undefined ? undefined : make(bytes);
    };
    return this.ground.cache.get(this.cacheKey(kind, digest), load) as Promise<string | undefined>;
  }

  /**
   * Makes bytes ready to be kept, without what must not be: texts in UTF-8, anything else as it is beside that. Throws
   * PERDURE_STORE_TOO_LARGE.
   */
  ready(given: Uint8Array, mediaType: string | undefined, filename: string | undefined): ReadyFile {
    const known = knownBytes(given, mediaType);
    const { store, redaction } = this.ground;
    const clean = known.text === undefined ? undefined : redaction.redactText(known.text);
    const isSame = known.isUtf8 && clean === known.text;
    const bytes = isSame ? given : clean === undefined ? redaction.redactBytes(given) : Buffer.from(clean);
    const limit = store?.limits.maxBytes ?? 0;
    if (bytes.byteLength > limit) throw new PerdureError('PERDURE_STORE_TOO_LARGE', { bytes: bytes.byteLength, limit });
    const artifact = { digest: digestOfBytes(bytes), bytes: bytes.byteLength, mediaType: known.mediaType };
    return {
      part: { type: 'file', mediaType: known.mediaType, ...(filename === undefined ? {} : { filename }), artifact },
      bytes,
    };
  }

  /** Resolves when the bytes are durable. */
  async keep(bytes: Uint8Array): Promise<void> {
    await this.ground.store?.put(this.ground.key.tenant, bytes);
  }

  /**
   * Keeps the files beside a tool's output. The call has had its effect: what cannot be kept is named without an
   * artifact, and nothing is thrown.
   */
  async keepBeside(output: unknown): Promise<FilePart[]> {
    const { maxCount, maxBytes, maxTotalBytes } = this.options;
    const parts: FilePart[] = [];
    let left = maxTotalBytes;
    for (const file of filesOf(output).slice(0, maxCount)) {
      const part = await this.keepOne(file, Math.min(maxBytes, left));
      left -= part.artifact?.bytes ?? 0;
      parts.push(part);
    }
    return parts;
  }

  /**
   * Keeps the files that a model made, so that facts only refer to them. One that cannot be kept stays in its part.
   */
  async keepAnswer(parts: readonly AnswerPart[]): Promise<readonly AnswerPart[]> {
    if (this.ground.store === undefined || !parts.some(({ type }) => type === 'file')) return parts;
    const kept: AnswerPart[] = [];
    for (const part of parts) {
      const isInline = part.type === 'file' && part.data !== undefined && !/^https?:/i.test(part.data);
      kept.push(isInline ? await this.keepInline(part) : part);
    }
    return kept;
  }

  private async keepInline({ data = '', ...part }: FilePart): Promise<FilePart> {
    try {
      const ready = this.ready(Buffer.from(data, 'base64'), readMediaType(part.mediaType), part.filename);
      await this.keep(ready.bytes);
      return { ...part, ...ready.part };
    } catch (error) {
      this.ground.logger.log('error', 'A file of a model could not be kept.', { reason: reasonOf(error) });
      return { ...part, data };
    }
  }

  private async keepOne(file: ToolFile, limit: number): Promise<FilePart> {
    const { filename, mediaType, artifact, bytes } = (isObject(file) ? file : {}) as Readonly<Record<string, unknown>>;
    const name = typeof filename === 'string' && filename !== '' ? safeFilename(filename) : undefined;
    const type = typeof mediaType === 'string' ? readMediaType(mediaType) : undefined;
    const about = { type: 'file' as const, ...(name === undefined ? {} : { filename: name }) };
    const known = this.find(String((artifact as { readonly digest?: unknown } | undefined)?.digest));
    if (known !== undefined) return { ...about, mediaType: known.mediaType, artifact: known };
    const lost = { ...about, mediaType: type ?? 'application/octet-stream' };
    try {
      if (!(bytes instanceof Uint8Array) || bytes.byteLength > limit || this.ground.store === undefined) return lost;
      const ready = this.ready(bytes, type, name);
      await this.keep(ready.bytes);
      return ready.part;
    } catch (error) {
      this.ground.logger.log('error', 'A file of a tool could not be kept.', { reason: reasonOf(error) });
      return lost;
    }
  }

  private async bytesOf(digest: string, range?: ByteRange): Promise<Uint8Array | undefined> {
    return this.ground.store?.get(this.ground.key.tenant, digest, range);
  }

  private cacheKey(kind: string, digest: string): string {
    return JSON.stringify([kind, this.ground.key.tenant ?? null, digest]);
  }
}
