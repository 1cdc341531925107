import { claimedHashes, sessionStream, type RecordedFact, type SessionKey } from '@perdure/events';
import { PerdureError, type EventStore } from '@perdure/plugin-api';
import { z } from 'zod';
import { readChain } from '../session/chain-reader.js';
import { checkOrigin, forkOrigin } from '../session/fork-origin.js';

/** A place in a session's chain, written down outside the store: what was there then must be there for ever. */
export interface Anchor {
  readonly version: 1;
  readonly stream: string;
  readonly revision: number;
  readonly hash: string;
}

const anchorSchema = z.strictObject({
  version: z.literal(1),
  stream: z.string(),
  revision: z.int().nonnegative(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});

/** Reads an anchor that was kept as text. Throws PERDURE_INPUT_INVALID naming the field. */
export function parseAnchor(text: string): Anchor {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: 'anchor', reason: 'it is no JSON' });
  }
  const parsed = anchorSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = ['anchor', ...(issue?.path ?? [])].join('.');
  throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason: issue?.message ?? 'not valid' });
}

export interface VerifiedChain {
  readonly stream: string;
  readonly facts: number;
  /** -1 for a stream without facts. */
  readonly revision: number;
  readonly hash: string;
}

/**
 * Reads a whole session and checks every byte of it against the chain, and the chain against an anchor. Throws
 * PERDURE_CHAIN_BROKEN with the first bad revision, or PERDURE_ANCHOR_MISMATCH when the tail is cut or the chain
 * another. Of a fork also the one fact that it goes on from is looked at: PERDURE_FORK_ORIGIN_MISSING when it is not
 * there. What came before that is verified as the session that it is of.
 */
export async function verifySession(store: EventStore, key: SessionKey, anchor?: Anchor): Promise<VerifiedChain> {
  const stream = sessionStream(key);
  if (anchor !== undefined && anchor.stream !== stream) {
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: 'anchor.stream', reason: `it is of ${anchor.stream}` });
  }
  let last: RecordedFact | undefined;
  let first: RecordedFact | undefined;
  let facts = 0;
  let anchored = anchor === undefined;
  for await (const page of readChain(store, stream, { from: 0 })) {
    facts += page.length;
    last = page.at(-1);
    first ??= page[0];
    const at = anchor && page.find(({ revision }) => revision === anchor.revision);
    if (at !== undefined) anchored = claimedHashes(at.metadata)?.hash === anchor?.hash;
  }
  if (!anchored) {
    throw new PerdureError('PERDURE_ANCHOR_MISMATCH', { stream, revision: anchor?.revision ?? 0 });
  }
  const origin = first && forkOrigin(first);
  if (first !== undefined && origin !== undefined) await checkOrigin(store, first, origin);
  const hash = last === undefined ? '' : (claimedHashes(last.metadata)?.hash ?? '');
  return { stream, facts, revision: last?.revision ?? -1, hash };
}

/** The present end of a session's chain. Throws PERDURE_SESSION_NOT_FOUND for a stream without facts. */
export async function takeAnchor(store: EventStore, key: SessionKey): Promise<Anchor> {
  const { stream, revision, hash } = await verifySession(store, key);
  if (revision < 0) throw new PerdureError('PERDURE_SESSION_NOT_FOUND', { session: key.id });
  return { version: 1, stream, revision, hash };
}
