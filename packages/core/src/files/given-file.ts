import { filePart, type FilePart, type TextPart } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import { isObject } from '../session/session-input.js';
import { readMediaType } from './media-type.js';

/** A file as it was given, checked as far as can be told without reading. */
export interface GivenFile {
  readonly type: 'given';
  /** Where it stands in the input. */
  readonly field: string;
  readonly source: FileSource;
  readonly mediaType: string | undefined;
  readonly filename: string | undefined;
  readonly providerMetadata?: FilePart['providerMetadata'];
}

export type FileSource =
  | { readonly path: string }
  | { readonly bytes: Uint8Array }
  | { readonly digest: string }
  /** The text of a data URL behind its comma. */
  | { readonly encoded: string; readonly isBase64: boolean };

/** A file that others have, at a URL, is a part as it is. */
export type GivenPart = TextPart | FilePart | GivenFile;

const LONGEST_NAME = 255;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Checks one attachment. Throws PERDURE_INPUT_INVALID naming it. */
export function checkAttachment(given: unknown, field: string): GivenPart {
  if (typeof given === 'string') return fromText(given, field, undefined, undefined);
  if (isBytes(given))
    return { type: 'given', field, source: bytesOf(given), mediaType: undefined, filename: undefined };
  if (!isObject(given)) throw invalid(field, 'it is a path, a data URL, bytes or an artifact');
  if ('type' in given) return checkFilePart(given, field);
  const { path, data, artifact, mediaType, filename, ...others } = given as Readonly<Record<string, unknown>>;
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalid(`${field}.${other}`, 'an attachment has nothing of this name');
  if ([path, data, artifact].filter((source) => source !== undefined).length !== 1) {
    throw invalid(field, 'it has one of path, data and artifact');
  }
  const type = checkMediaType(mediaType, field);
  const name = checkFilename(filename, field);
  const file = (source: FileSource): GivenFile => ({ type: 'given', field, source, mediaType: type, filename: name });
  if (artifact !== undefined) return file({ digest: checkDigest(artifact, `${field}.artifact`) });
  if (path !== undefined) return file({ path: checkPath(path, `${field}.path`) });
  if (isBytes(data)) return file(bytesOf(data));
  if (typeof data !== 'string' || !isDataUrl(data)) throw invalid(`${field}.data`, 'it is bytes or a data URL');
  return fromText(data, field, type, name);
}

/** Checks a file part of a prompt. What it carries is kept as that of attachments is. */
export function checkFilePart(given: unknown, field: string): GivenPart {
  const checked = filePart.safeParse(given);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw invalid([field, ...(issue?.path ?? [])].join('.'), issue?.message ?? 'not valid');
  }
  const { data, artifact, mediaType, filename, providerMetadata } = checked.data;
  if ((data === undefined) === (artifact === undefined)) throw invalid(field, 'it has either data or an artifact');
  if (data !== undefined && /^https?:\/\//i.test(data)) {
    if (!URL.canParse(data)) throw invalid(`${field}.data`, 'it is not a URL');
    return checked.data;
  }
  const about = {
    type: 'given' as const,
    field,
    mediaType: checkMediaType(mediaType, field),
    filename: checkFilename(filename, field),
    ...(providerMetadata === undefined ? {} : { providerMetadata }),
  };
  if (artifact !== undefined) return { ...about, source: { digest: checkDigest(artifact, `${field}.artifact`) } };
  const text = data ?? '';
  return isDataUrl(text)
    ? { ...about, source: dataSource(text, `${field}.data`).source }
    : { ...about, source: { encoded: text, isBase64: true } };
}

function fromText(text: string, field: string, mediaType: string | undefined, filename: string | undefined): GivenFile {
  if (!isDataUrl(text)) {
    return { type: 'given', field, source: { path: checkPath(text, field) }, mediaType, filename };
  }
  const { source, type } = dataSource(text, field);
  return { type: 'given', field, source, mediaType: mediaType ?? type, filename };
}

function isDataUrl(text: string): boolean {
  return /^data:/i.test(text);
}

/** `data:<type>[;<parameter>…][;base64],<text>` */
function dataSource(url: string, field: string): { readonly source: FileSource; readonly type: string | undefined } {
  const comma = url.indexOf(',');
  if (comma < 0) throw invalid(field, 'the data URL has no comma');
  const about = url.slice('data:'.length, comma);
  const type = about.split(';', 1)[0] ?? '';
  const isBase64 = /;\s*base64\s*$/i.test(about);
  return {
    source: { encoded: url.slice(comma + 1), isBase64 },
    type: type.trim() === '' ? undefined : checkMediaType(type, field),
  };
}

function checkPath(path: unknown, field: string): string {
  if (typeof path !== 'string' || path === '' || path.includes('\0')) throw invalid(field, 'it is a path');
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(path)) throw invalid(field, 'it is a path or a data URL, and no other URL');
  return path;
}

function checkDigest(artifact: unknown, field: string): string {
  const digest = isObject(artifact) ? (artifact as { readonly digest?: unknown }).digest : artifact;
  if (typeof digest !== 'string' || !DIGEST.test(digest)) throw invalid(field, 'it is sha256: and 64 hex digits');
  return digest;
}

function checkMediaType(given: unknown, field: string): string | undefined {
  if (given === undefined) return undefined;
  const type = typeof given === 'string' ? readMediaType(given) : undefined;
  if (type === undefined) throw invalid(`${field}.mediaType`, 'it is a media type, as image/png');
  return type;
}

function checkFilename(given: unknown, field: string): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== 'string' || given === '' || given !== safeFilename(given)) {
    const reason = `it has 1 to ${LONGEST_NAME} characters, none of them a slash or a control character`;
    throw invalid(`${field}.filename`, reason);
  }
  return given;
}

/** A name as it may stand in one line of a text. */
export function safeFilename(name: string): string {
  return name.replace(/[\p{Cc}\p{Zl}\p{Zp}/\\]/gu, '_').slice(0, LONGEST_NAME);
}

function isBytes(value: unknown): value is Uint8Array | ArrayBuffer {
  return value instanceof Uint8Array || value instanceof ArrayBuffer;
}

/** A copy: what the caller does with the bytes afterwards changes nothing. */
function bytesOf(data: Uint8Array | ArrayBuffer): { readonly bytes: Uint8Array } {
  return { bytes: data instanceof Uint8Array ? Uint8Array.from(data) : new Uint8Array(data.slice(0)) };
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
