import {
  claimedHashes,
  FIRST_PREV_HASH,
  isFactIntact,
  sessionStream,
  type FactRegistry,
  type RecordedFact,
  type SessionKey,
} from '@perdure/events';
import { PerdureError, type EventStore, type ReadPage } from '@perdure/plugin-api';
import { sha256 } from '../host/sha256.js';
import { ChainCheck, readChain } from './chain-reader.js';
import { evolveRead } from './evolve.js';
import { timeOf } from './fact-encoder.js';
import { checkOrigin, forkOrigin } from './fork-origin.js';
import { initialState, type SessionState } from './session-state.js';

/** A stream folded up to a revision, with the chain's hash there. */
export interface FoldedSession {
  readonly state: SessionState;
  /** -1 for a stream without facts. */
  readonly revision: number;
  readonly hash: string;
  /** When the last fact was written, in epoch milliseconds. */
  readonly time: number;
}

export const emptySession: FoldedSession = { state: initialState, revision: -1, hash: FIRST_PREV_HASH, time: 0 };

/** A stream no longer than this is read whole, and at once. */
const SHORT = 256;

/** How much of a session is folded. */
export interface LoadOptions {
  /** The state that is known; the beginning of the session when absent. */
  readonly start?: FoldedSession;
  /** The first revision that is not folded; the whole stream when absent. */
  readonly until?: number;
  /** A state of another session that is known, for one that was forked from it; from before a revision of it. */
  readonly openBefore?: (key: SessionKey, until: number) => Promise<FoldedSession>;
}

/**
 * Folds a session's stream from a state that is known, or from its beginning.
 *
 * A long stream is read in two parts. Every step that is closed has left in the state only what its answer and its
 * settlements say; the details of steps matter from the start of the last step on. So the stream before that start is
 * read without details, and the rest whole.
 */
export async function loadSession(
  store: EventStore,
  stream: string,
  registry: FactRegistry,
  options: LoadOptions = {},
): Promise<FoldedSession> {
  const { start = emptySession, until = Number.POSITIVE_INFINITY } = options;
  const from = start.revision + 1;
  const newest = await readNewest(store, stream, until);
  let folded = start;
  const fold = async (page: readonly RecordedFact[]): Promise<void> => {
    if (folded.revision < 0) folded = await beginningOf(page[0], store, registry, options.openBefore);
    folded = foldPage(folded, page, registry);
  };
  if (newest.next === undefined || newest.next < from) {
    const facts = newest.facts.filter(({ revision }) => revision >= from).reverse();
    const check = new ChainCheck(stream, { from, prevHash: start.hash });
    const isEnd = facts.length === 1 && facts[0]?.revision === newest.head;
    for (const fact of facts) check.next(fact, { mayBeRest: isEnd });
    if (facts.length > 0) await fold(facts);
    return folded;
  }
  const lastStep = await findLastStep(store, stream, from, newest);
  if (lastStep !== undefined) {
    const range = { until: lastStep, omitDetail: true };
    for await (const page of readChain(store, stream, { from, prevHash: start.hash }, range)) await fold(page);
  }
  const whole = lastStep ?? from;
  const link = whole === from ? { from: whole, prevHash: start.hash } : { from: whole };
  const range = Number.isFinite(until) ? { until } : {};
  for await (const page of readChain(store, stream, link, range)) await fold(page);
  return folded;
}

/** What a fork goes on from when the other session is gone. */
const orphaned: FoldedSession = { ...emptySession, state: { ...initialState, isErased: true } };

/**
 * What comes before the first fact of a stream: nothing, or for a fork the session that it goes on from, as far as it
 * had come then. Throws PERDURE_FORK_ORIGIN_MISSING when that is not there, and PERDURE_CHAIN_BROKEN when it is not
 * what the fork was made of.
 */
export async function beginningOf(
  first: RecordedFact | undefined,
  store: EventStore,
  registry: FactRegistry,
  openBefore?: LoadOptions['openBefore'],
): Promise<FoldedSession> {
  const from = first && forkOrigin(first, registry);
  if (first === undefined || from === undefined) return emptySession;
  const { key: origin } = from;
  try {
    await checkOrigin(store, first, from);
  } catch (error) {
    // Whoever made it had not seen yet that the other one is erased.
    if (await hasEnded(store, sessionStream(origin))) return orphaned;
    throw error;
  }
  const until = from.revision + 1;
  const start = await openBefore?.(origin, until);
  const folded = await loadSession(store, sessionStream(origin), registry, {
    until,
    ...(start === undefined ? {} : { start }),
    ...(openBefore === undefined ? {} : { openBefore }),
  });
  if (folded.revision < from.revision && (await hasEnded(store, sessionStream(origin)))) return orphaned;
  if (folded.revision !== from.revision || folded.hash !== claimedHashes(first.metadata)?.prevHash) {
    throw new PerdureError('PERDURE_CHAIN_BROKEN', { stream: first.stream, revision: first.revision });
  }
  return { ...folded, revision: -1 };
}

/** Whether the last fact of a stream is that its session was erased. */
export async function hasEnded(store: EventStore, stream: string): Promise<boolean> {
  const [last] = (await store.read(stream, { direction: 'backwards', limit: 1 })).facts;
  return last?.type === 'SessionErased' && isFactIntact(last, sha256);
}

/** The end of a stream, backwards; of one that is short it is all there is. */
function readNewest(store: EventStore, stream: string, until: number): Promise<ReadPage> {
  const end = Number.isFinite(until) ? { from: until - 1 } : {};
  return store.read(stream, { direction: 'backwards', limit: SHORT, ...end });
}

/** The revision of the last StepStarted behind `from`, if any; looked for from the newest page on backwards. */
async function findLastStep(
  store: EventStore,
  stream: string,
  from: number,
  newest: ReadPage,
): Promise<number | undefined> {
  let page = newest;
  for (;;) {
    const found = page.facts.find(({ type, revision }) => type === 'StepStarted' && revision >= from);
    if (found !== undefined) return found.revision;
    if (page.next === undefined || page.next < from) return undefined;
    page = await store.read(stream, { direction: 'backwards', from: page.next, limit: SHORT });
  }
}

/** Folds checked facts onto a state. */
export function foldPage(folded: FoldedSession, facts: readonly RecordedFact[], registry: FactRegistry): FoldedSession {
  let { state } = folded;
  for (const fact of facts) {
    state = evolveRead(state, registry.read(fact), { revision: fact.revision, time: timeOf(fact) });
  }
  const last = facts.at(-1);
  if (last === undefined) return folded;
  const hash = claimedHashes(last.metadata)?.hash ?? folded.hash;
  return { state, revision: last.revision, hash, time: timeOf(last) };
}

/**
 * Folds a list of facts from the beginning, checking the chain: what an auditor does. Of a fork the beginning is that
 * of `beginningOf`.
 */
export function foldFacts(
  stream: string,
  facts: readonly RecordedFact[],
  registry: FactRegistry,
  beginning: FoldedSession = emptySession,
): FoldedSession {
  const check = new ChainCheck(stream, { from: 0 });
  for (const fact of facts) check.next(fact);
  return foldPage(beginning, facts, registry);
}
