import { claimedHashes, FIRST_PREV_HASH, type FactRegistry, type RecordedFact } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { ChainCheck, readChain } from './chain-reader.js';
import { evolveRead } from './evolve.js';
import { timeOf } from './fact-encoder.js';
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

/** A stream no longer than this is read whole. */
const SHORT = 256;

/**
 * Folds a session's stream from a state that is known, or from nothing.
 *
 * A long stream is read in two parts. Every step that is closed has left in the state only what its answer and its
 * settlements say; the details of steps matter from the start of the last step on. So the stream before that start is
 * read without details, and the rest whole.
 */
export async function loadSession(
  store: EventStore,
  stream: string,
  registry: FactRegistry,
  start: FoldedSession = emptySession,
): Promise<FoldedSession> {
  const from = start.revision + 1;
  const lastStep = await findLastStep(store, stream, from);
  let folded = start;
  if (lastStep !== undefined) {
    const options = { until: lastStep, omitDetail: true };
    for await (const page of readChain(store, stream, { from, prevHash: start.hash }, options)) {
      folded = foldPage(folded, page, registry);
    }
  }
  const whole = lastStep ?? from;
  const link = whole === from ? { from: whole, prevHash: start.hash } : { from: whole };
  for await (const page of readChain(store, stream, link)) folded = foldPage(folded, page, registry);
  return folded;
}

/**
 * The revision of the last StepStarted when the stream behind `from` is long; `undefined` when it may be read whole.
 */
async function findLastStep(store: EventStore, stream: string, from: number): Promise<number | undefined> {
  const newest = await store.read(stream, { direction: 'backwards', limit: SHORT });
  if (newest.next === undefined || newest.next < from) return undefined;
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

/** Folds a list of facts from the beginning, checking the chain: what an auditor does. */
export function foldFacts(stream: string, facts: readonly RecordedFact[], registry: FactRegistry): FoldedSession {
  const check = new ChainCheck(stream, { from: 0 });
  for (const fact of facts) check.next(fact);
  return foldPage(emptySession, facts, registry);
}
