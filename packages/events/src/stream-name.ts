/**
 * Names of streams: `<category>-<tenant>.<id>`, with `_` for no tenant. Tenant and id are escaped, so that no key of one
 * tenant can spell a key of another; the category ends at the first dash.
 */
export interface SessionKey {
  /** The isolating tenant; it never changes. `undefined` is the host without tenants. */
  readonly tenant?: string | undefined;
  readonly id: string;
}

export type StreamCategory = 'session' | 'draft' | 'lease' | 'budget' | 'artifact';

const NO_TENANT = '_';

export function sessionStream(key: SessionKey): string {
  return `session-${keyText(key)}`;
}

export function draftStream(key: SessionKey): string {
  return `draft-${keyText(key)}`;
}

export function leaseStream(node: string): string {
  return `lease-${escapeSegment(node)}`;
}

/** The key of a session stream, or `undefined` for a stream of another kind. */
export function sessionKeyOf(stream: string): SessionKey | undefined {
  const match = /^session-([^.]+)\.(.+)$/.exec(stream);
  if (match === null) return undefined;
  const id = unescapeSegment(match[2] as string);
  return match[1] === NO_TENANT ? { id } : { tenant: unescapeSegment(match[1] as string), id };
}

/** The part of a stream's name before the first dash. */
export function streamCategory(stream: string): string {
  const dash = stream.indexOf('-');
  return dash < 0 ? stream : stream.slice(0, dash);
}

/** `<tenant>.<id>` escaped: one text for one key. */
export function keyText(key: SessionKey): string {
  return `${key.tenant === undefined ? NO_TENANT : escapeSegment(key.tenant)}.${escapeSegment(key.id)}`;
}

/** Letters, digits and dashes stay; all other characters, the underscore too when it stands alone, become `%XX`. */
function escapeSegment(text: string): string {
  if (text === NO_TENANT) return '%5F';
  return text.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    Array.from(
      new TextEncoder().encode(character),
      (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    ).join(''),
  );
}

function unescapeSegment(text: string): string {
  return decodeURIComponent(text);
}
