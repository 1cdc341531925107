/**
 * The hash rule, version 1. Each session stream is a chain over the exact stored text:
 *
 * - the metadata text of a fact ends with `,"prevHash":"<64 hex>","hash":"<64 hex>"}`;
 * - `hash` is the lower-case hex SHA-256 of the UTF-8 bytes of
 *   `perdure.fact.v1 LF <event id> LF <type> LF <metadata text without its last 75 characters> LF <payload text>`,
 *   where the 75 characters left out are `,"hash":"<64 hex>"}`;
 * - `prevHash` is the `hash` of the fact one revision earlier, and for the first fact of a stream 64 zeros;
 * - id, type and metadata hold no LF, so that the hashed text can be taken apart in one way only.
 *
 * `fixtures/hash-chain.v1.json` holds vectors for other languages.
 */

/** `prevHash` of the first fact of a stream. */
export const FIRST_PREV_HASH = '0'.repeat(64);

const HASH_MEMBER = ',"hash":"';
const TAIL_LENGTH = HASH_MEMBER.length + 64 + 2;
const PREV_MEMBER = ',"prevHash":"';
const HEX_64 = /^[0-9a-f]{64}$/;

/** Lower-case hex SHA-256 of the UTF-8 bytes of a text. */
export type Sha256 = (text: string) => string;

/** A fact as its bytes: what a store keeps, before anything is parsed. */
export interface FactText {
  readonly id: string;
  readonly type: string;
  readonly payload: string;
  readonly metadata: string;
}

/**
 * Closes a metadata text with its two hashes.
 *
 * @param head the metadata as JSON text without the closing brace
 */
export function sealMetadata(
  fact: { readonly id: string; readonly type: string; readonly payload: string; readonly head: string },
  prevHash: string,
  sha256: Sha256,
): { readonly metadata: string; readonly hash: string } {
  const hashed = `${fact.head}${PREV_MEMBER}${prevHash}"`;
  const hash = sha256(hashedText(fact.id, fact.type, hashed, fact.payload));
  return { metadata: `${hashed}${HASH_MEMBER}${hash}"}`, hash };
}

/**
 * The hash that a stored fact claims and the one before it, or `undefined` when the text has not the form of the rule.
 */
export function claimedHashes(metadata: string): { readonly prevHash: string; readonly hash: string } | undefined {
  const hashAt = metadata.length - TAIL_LENGTH;
  const prevAt = hashAt - PREV_MEMBER.length - 65;
  if (prevAt < 0 || !metadata.startsWith(HASH_MEMBER, hashAt) || !metadata.startsWith(PREV_MEMBER, prevAt)) {
    return undefined;
  }
  const hash = metadata.slice(hashAt + HASH_MEMBER.length, -2);
  const prevHash = metadata.slice(prevAt + PREV_MEMBER.length, hashAt - 1);
  return HEX_64.test(hash) && HEX_64.test(prevHash) ? { prevHash, hash } : undefined;
}

/** Whether a stored fact carries the hash of its own bytes. */
export function isFactIntact(fact: FactText, sha256: Sha256): boolean {
  const claimed = claimedHashes(fact.metadata);
  if (claimed === undefined) return false;
  if (fact.id.includes('\n') || fact.type.includes('\n') || fact.metadata.includes('\n')) return false;
  const hashed = fact.metadata.slice(0, fact.metadata.length - TAIL_LENGTH);
  return sha256(hashedText(fact.id, fact.type, hashed, fact.payload)) === claimed.hash;
}

function hashedText(id: string, type: string, metadata: string, payload: string): string {
  return `perdure.fact.v1\n${id}\n${type}\n${metadata}\n${payload}`;
}
