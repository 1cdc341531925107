import type { UserPart } from '@perdure/events';
import { isPerdureError, PerdureError } from '@perdure/plugin-api';
import { basename } from 'node:path';
import { safeFilename, type GivenFile, type GivenPart } from './given-file.js';
import { readBytes } from './read-bytes.js';
import type { ReadyFile, SessionFiles } from './session-files.js';

/** The parts of a prompt as they are to be stored, and the bytes that must be durable before. */
export interface TakenParts {
  readonly parts: readonly UserPart[];
  readonly bytes: readonly Uint8Array[];
}

/**
 * Reads the files of a prompt, within the bounds of the agent. Throws PERDURE_INPUT_INVALID naming the first that
 * cannot be taken; nothing has been stored then.
 */
export async function takeFiles(given: readonly GivenPart[], files: SessionFiles): Promise<TakenParts> {
  const { maxCount, maxBytes, maxTotalBytes } = files.options;
  const excess = given.filter(({ type }) => type !== 'text')[maxCount];
  if (excess !== undefined) {
    const field = excess.type === 'given' ? excess.field : 'attachments';
    throw invalid(field, `a prompt has at most ${maxCount} files`);
  }
  const parts: UserPart[] = [];
  const bytes: Uint8Array[] = [];
  let left = maxTotalBytes;
  for (const part of given) {
    if (part.type !== 'given') {
      parts.push(part);
      continue;
    }
    const taken = await takeFile(part, files, Math.min(maxBytes, left));
    const { providerMetadata } = part;
    parts.push(providerMetadata === undefined ? taken.part : { ...taken.part, providerMetadata });
    if (taken.bytes === undefined) continue;
    bytes.push(taken.bytes);
    left -= taken.bytes.byteLength;
  }
  return { parts, bytes };
}

type TakenFile = Pick<ReadyFile, 'part'> & { readonly bytes: Uint8Array | undefined };

async function takeFile(
  { source, field, mediaType, filename }: GivenFile,
  files: SessionFiles,
  limit: number,
): Promise<TakenFile> {
  if (files.ground.store === undefined) throw invalid(field, 'there is no artifact store that could keep it');
  if ('digest' in source) {
    const artifact = files.find(source.digest);
    if (artifact === undefined) throw invalid(field, 'the session has no such artifact');
    const name = filename === undefined ? {} : { filename };
    return { part: { type: 'file', mediaType: artifact.mediaType, ...name, artifact }, bytes: undefined };
  }
  const bytes = await readBytes({ source, field, limit, workspace: files.ground.workspace() });
  const name = filename ?? ('path' in source ? safeFilename(basename(source.path)) : undefined);
  try {
    return files.ready(bytes, mediaType, name);
  } catch (error) {
    if (!isPerdureError(error, 'PERDURE_STORE_TOO_LARGE')) throw error;
    throw invalid(field, error.message);
  }
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
