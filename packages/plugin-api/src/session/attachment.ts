import type { ArtifactReference, FilePart } from '@perdure/events';

/**
 * What comes with a prompt: a text is the path of a file or a data URL. A path that is absolute may lead anywhere; one
 * that is relative is of the session's workspace and does not leave it.
 */
export type Attachment = string | PathAttachment | BytesAttachment | KnownAttachment | FilePart;

interface Described {
  /** A hint. What the bytes show themselves to be goes before it. */
  readonly mediaType?: string;
  /** 1 to 255 characters without slashes and control characters. */
  readonly filename?: string;
}

export interface PathAttachment extends Described {
  readonly path: string;
}

export interface BytesAttachment extends Described {
  /** Bytes, or a data URL. */
  readonly data: Uint8Array | ArrayBuffer | string;
}

/** A file that the session has already, in whatever place. */
export interface KnownAttachment {
  /** The artifact or its digest, `sha256:<64 hex>`. */
  readonly artifact: Pick<ArtifactReference, 'digest'> | string;
  readonly filename?: string;
}

/** What an agent does with files: those of prompts, and those that tools give. */
export interface FileOptions {
  /** Attachments of one prompt, and files of one tool's output; 32 when absent. */
  readonly maxCount?: number;
  /** Bytes of one file; 32 MiB when absent. The artifact store may keep less. */
  readonly maxBytes?: number;
  /** Bytes of all files of one prompt, or of one tool's output; 64 MiB when absent. */
  readonly maxTotalBytes?: number;
  /**
   * Media types that the agent's models take as files, as `image/png` or `image/*`; PNG, JPEG, GIF and WebP when
   * absent. Texts are shown as text. Of other files models are told name, type and size.
   */
  readonly shown?: readonly string[];
  /**
   * Where models are shown files that a tool gave: in a message behind its result, which every provider takes, or in
   * the result itself, for providers that take files there. `message` when absent.
   */
  readonly ofTools?: 'message' | 'result';
}
