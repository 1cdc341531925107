import type { ProposedEvent } from '../log/transaction.js';

export const METADATA_EVENT = '$metadata';

/** `$tb` of a soft-deleted stream, the largest signed number of 64 bits. A JavaScript number holds it rounded. */
const DELETED = Number(2n ** 63n - 1n);
const DELETED_TEXT = String(2n ** 63n - 1n);

/** The settings of a stream that the server itself understands, under the names that they have in an event. */
export interface StreamMetadata {
  readonly $maxCount?: number;
  /** Seconds. */
  readonly $maxAge?: number;
  readonly $tb?: number;
  readonly $cacheControl?: number;
  readonly $acl?: AccessList;
}

/** Who may read, write, delete, and read and write the metadata: a name, or several. */
export type AccessList = Readonly<Partial<Record<'$r' | '$w' | '$d' | '$mr' | '$mw', string | readonly string[]>>>;

export function metadataStreamOf(stream: string): string {
  return `$$${stream}`;
}

/** Metadata that cannot be read counts as none. */
export function parseMetadata(data: Uint8Array): StreamMetadata {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(data).toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? parsed : {};
  } catch {
    return {};
  }
}

export function isSoftDeleted({ $tb }: StreamMetadata): boolean {
  return $tb !== undefined && $tb >= DELETED;
}

/** The event that soft-deletes a stream; other settings stay. */
export function softDeletion(metadata: StreamMetadata, id: string): ProposedEvent {
  const rest = Object.entries({ ...metadata, $tb: undefined }).filter(([, value]) => value !== undefined);
  const others = JSON.stringify(Object.fromEntries(rest)).slice(1, -1);
  // The number is written as text, as JavaScript would round it.
  return metadataEvent(`{${others}${others === '' ? '' : ','}"$tb":${DELETED_TEXT}}`, id);
}

/** The event that opens a soft-deleted stream again; what it had before stays hidden. */
export function reopening(metadata: StreamMetadata, truncateBefore: number, id: string): ProposedEvent {
  return metadataEvent(JSON.stringify({ ...metadata, $tb: truncateBefore }), id);
}

function metadataEvent(json: string, id: string): ProposedEvent {
  return { id, type: METADATA_EVENT, isJson: true, data: Buffer.from(json), metadata: new Uint8Array() };
}
