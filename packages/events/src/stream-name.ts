/**
 * Names of streams: `<category>-<tenant>.<id>`, with `_` for no tenant. Tenant and id are escaped, so that no key of
 * one tenant can spell a key of another; the category ends at the first dash.
 */
export interface SessionKey {
  /** The isolating tenant; it never changes. `undefined` is the host without tenants. */
  readonly tenant?: string | undefined;
  readonly id: string;
}

export type StreamCategory = 'session' | 'draft' | 'lease' | 'node' | 'budget' | 'artifact' | 'relay';

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

/** What a node is asked to do, by operators. */
export function nodeStream(node: string): string {
  return `node-${escapeSegment(node)}`;
}

/** Who relays the facts of the store to a place outside of it, by that place's name. */
export function relayStream(target: string): string {
  return `relay-${escapeSegment(target)}`;
}

/** The node of a lease stream, or `undefined` for a stream of another kind. */
export function nodeOfLease(stream: string): string | undefined {
  return stream.startsWith('lease-') ? unescapeSegment(stream.slice('lease-'.length)) : undefined;
}

/** Where the budget of a tree of sessions is kept, by the key of the session at its top. */
export function budgetStream(root: SessionKey): string {
  return `budget-${keyText(root)}`;
}

/** Where a store that has nothing but streams keeps an artifact, by its digest. */
export function artifactStream(tenant: string | undefined, digest: string): string {
  return `artifact-${tenant === undefined ? NO_TENANT : escapeSegment(tenant)}-${digest}`;
}

/** The key of a session stream, or `undefined` for a stream of another kind. */
export function sessionKeyOf(stream: string): SessionKey | undefined {
  const match = /^session-([^.]*)\.([^.]*)$/.exec(stream);
  if (match === null) return undefined;
  const [, tenantText = '', idText = ''] = match;
  const id = unescapeSegment(idText);
  if (id === undefined) return undefined;
  if (tenantText === NO_TENANT) return { id };
  const tenant = unescapeSegment(tenantText);
  return tenant === undefined ? undefined : { tenant, id };
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

/**
 * Letters, digits, dashes and underscores stay, but for an underscore that stands alone. All other characters become
 * the `%XX` of their UTF-8 bytes, and half a surrogate pair, which has none, becomes `%uXXXX`: no two texts are escaped
 * alike.
 */
function escapeSegment(text: string): string {
  if (text === NO_TENANT) return '%5F';
  return text.replace(/[^A-Za-z0-9_-]/gu, (character) => {
    if (HALF_PAIR.test(character)) return `%u${hex(character.charCodeAt(0), 4)}`;
    return Array.from(new TextEncoder().encode(character), (byte) => `%${hex(byte, 2)}`).join('');
  });
}

const HALF_PAIR = /^[\ud800-\udfff]$/;

function hex(value: number, digits: number): string {
  return value.toString(16).toUpperCase().padStart(digits, '0');
}

/** `undefined` for a text that `escapeSegment` did not make. */
function unescapeSegment(text: string): string | undefined {
  const units = text.replace(/%u(D[89A-F][0-9A-F]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  try {
    return decodeURIComponent(units);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
