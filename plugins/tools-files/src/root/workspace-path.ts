import { posix, win32 } from 'node:path';
import { fileFailure, quoted } from '../failure.js';

/** A path inside the workspace: no `.`, no `..`, no empty segment. */
export interface WorkspacePath {
  /** As the model gave it, for messages. */
  readonly given: string;
  readonly segments: readonly string[];
  /** The segments joined with `/`; `.` for the workspace itself. */
  readonly relative: string;
}

const LONGEST_PATH = 4096;
/** Half of a surrogate pair has no UTF-8 form: the system would be asked for another name. */
const LONE_SURROGATE = /[\uD800-\uDFFF]/u;
/** What Windows reads as a device, a stream or another name than is written. */
const WINDOWS_ALIAS = /[<>:"|?*\u0000-\u001f]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$)(?:\.|$)/i;

/**
 * Normalises a path by its text alone.
 *
 * @param bases the absolute spellings of the workspace: an absolute path must be one of them or below
 * @throws FileFailure `invalid_path` or `sandbox_denied`
 */
export function workspacePath(
  bases: readonly string[],
  given: string,
  windows: boolean = process.platform === 'win32',
): WorkspacePath {
  if (given === '') throw fileFailure('invalid_path', 'The path is empty.');
  if (given.includes('\0')) throw fileFailure('invalid_path', `${quoted(given)} contains a NUL character.`);
  if (given.length > LONGEST_PATH) {
    throw fileFailure('invalid_path', `${quoted(given)} is longer than ${LONGEST_PATH} characters.`);
  }
  if (LONE_SURROGATE.test(given)) throw fileFailure('invalid_path', `${quoted(given)} is not valid Unicode.`);
  const text = belowBase(bases, given, windows);
  const segments: string[] = [];
  for (const segment of text.split('/')) {
    if (segment === '' || segment === '.') continue;
    if (segment !== '..') segments.push(segment);
    else if (segments.pop() === undefined) throw outside(given);
  }
  if (windows && segments.some((segment) => WINDOWS_ALIAS.test(segment))) {
    throw fileFailure('invalid_path', `${quoted(given)} contains a name that Windows reads in another way.`);
  }
  return { given, segments, relative: segments.length === 0 ? '.' : segments.join('/') };
}

/** The text that permission patterns are matched with: the normalised path, also of one that the tool will refuse. */
export function permissionSubject(bases: readonly string[], given: string): string {
  try {
    return workspacePath(bases, given).relative;
  } catch {
    return posix.normalize(given);
  }
}

function belowBase(bases: readonly string[], given: string, windows: boolean): string {
  const slashed = windows ? given.replaceAll('\\', '/') : given;
  const absolute = slashed.startsWith('/') || (windows && /^[a-z]:/i.test(slashed));
  if (!absolute) return slashed;
  const full = windows ? win32.normalize(given).replaceAll('\\', '/') : posix.normalize(given);
  for (const base of bases) {
    const prefix = (windows ? base.replaceAll('\\', '/') : base).replace(/\/$/, '');
    const same = windows
      ? full.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase()
      : full.startsWith(prefix);
    const rest = full.slice(prefix.length);
    if (same && (rest === '' || rest.startsWith('/'))) return rest;
  }
  throw outside(given);
}

function outside(given: string): Error {
  return fileFailure('sandbox_denied', `${quoted(given)} is outside the workspace.`);
}
