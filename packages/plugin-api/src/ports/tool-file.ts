import type { ArtifactReference, FilePart } from '@perdure/events';
import type { ByteRange } from './artifact-store.js';

/** A file that a tool gives beside its output: bytes, or a file that an outcome of another call named. */
export type ToolFile = NewFile | FilePart;

export interface NewFile {
  readonly bytes: Uint8Array;
  /** A hint. What the bytes show themselves to be goes before it. */
  readonly mediaType?: string;
  readonly filename?: string;
}

const FILES = Symbol.for('perdure.tool.files');

/**
 * An output with files beside it, which are kept as artifacts and shown to models as what they are. In JSON it is the
 * output alone, so a tool that gives files can also be used without the runtime.
 */
export function withFiles<Output extends object>(output: Output, files: readonly ToolFile[]): Output {
  return files.length === 0 ? output : { ...output, [FILES]: files };
}

/** The files beside an output; none beside most. */
export function filesOf(output: unknown): readonly ToolFile[] {
  if (typeof output !== 'object' || output === null || !(FILES in output)) return [];
  const files = output[FILES];
  return Array.isArray(files) ? (files as readonly ToolFile[]) : [];
}

const TEXT_TYPE = new RegExp(
  '^(?:text/.+|[^/]+/[^/]+\\+(?:json|xml|yaml)|' +
    'application/(?:json|jsonl|x-ndjson|xml|yaml|x-yaml|toml|javascript|sql|x-sh))$',
);

/** Whether an artifact of this media type is a text, in UTF-8. */
export function isTextType(mediaType: string): boolean {
  return TEXT_TYPE.test(mediaType);
}

/** The name of the tool that reads artifacts. Where an agent has it, excerpts of what is too long name it. */
export const READ_ARTIFACT = 'read_artifact';

/** What a session's facts name of the artifact store, and nothing else of it. */
export interface SessionArtifacts {
  /** Characters of an output that models of the session are shown. */
  readonly outputCharacters: number;
  /** The reference as the session's facts have it; `undefined` for an artifact that none of them names. */
  find(digest: string): ArtifactReference | undefined;
  /**
   * The bytes, or a range of them. `undefined` when no fact of the session names the artifact, or when it is no longer
   * kept.
   */
  read(digest: string, range?: ByteRange): Promise<Uint8Array | undefined>;
}
