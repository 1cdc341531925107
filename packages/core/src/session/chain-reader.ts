import { claimedHashes, FIRST_PREV_HASH, isFactIntact, type RecordedFact } from '@perdure/events';
import { PerdureError, type EventStore } from '@perdure/plugin-api';
import { sha256 } from '../host/sha256.js';

export interface ChainStart {
  /** The first revision to read. */
  readonly from: number;
  /** The hash of the fact before it; unknown when absent, and then not compared. */
  readonly prevHash?: string;
}

/**
 * Reads a session stream page by page and checks every fact that it gives: its own hash, and its link to the fact
 * before it when that was read too. Throws PERDURE_CHAIN_BROKEN with the first revision that is wrong.
 */
export async function* readChain(
  store: EventStore,
  stream: string,
  start: ChainStart,
  options: { readonly until?: number; readonly omitDetail?: boolean; readonly signal?: AbortSignal } = {},
): AsyncGenerator<readonly RecordedFact[]> {
  const check = new ChainCheck(stream, start);
  let from: number | undefined = start.from;
  while (from !== undefined && (options.until === undefined || from < options.until)) {
    const room = options.until === undefined ? undefined : options.until - from;
    const page = await store.read(stream, {
      from,
      ...(room !== undefined && room < 1_000 ? { limit: room } : {}),
      ...(options.omitDetail === undefined ? {} : { omitDetail: options.omitDetail }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    const facts =
      options.until === undefined
        ? page.facts
        : page.facts.filter(({ revision }) => revision < (options.until as number));
    // A stream that is truncated while it is read holds its last fact alone.
    const isEnd = facts.length === 1 && page.facts.length === 1 && page.next === undefined;
    for (const fact of facts) check.next(fact, { mayHaveGaps: options.omitDetail === true, mayBeRest: isEnd });
    if (facts.length > 0) yield facts;
    from = page.next;
  }
}

/** Checks facts of one stream in their order. */
export class ChainCheck {
  private revision: number;
  private hash: string | undefined;

  constructor(
    private readonly stream: string,
    start: ChainStart,
  ) {
    this.revision = start.from - 1;
    this.hash = start.from === 0 ? FIRST_PREV_HASH : start.prevHash;
  }

  /** Throws PERDURE_CHAIN_BROKEN unless the fact is whole and follows the one before. */
  next(
    fact: RecordedFact,
    { mayHaveGaps = false, mayBeRest = false }: { readonly mayHaveGaps?: boolean; readonly mayBeRest?: boolean } = {},
  ): void {
    const claimed = claimedHashes(fact.metadata);
    const isBeginning = this.revision < 0;
    // Nothing is left before the end of a session that was erased.
    const isBehindGap = mayBeRest && fact.revision > this.revision + 1;
    const isRest = (isBeginning || isBehindGap) && fact.type === 'SessionErased';
    const follows = isRest || fact.revision === this.revision + 1;
    // A fork follows a fact of another stream: whoever reads that one compares them.
    const isLinkedElsewhere = isRest || (isBeginning && fact.type === 'SessionForked');
    const linked = isLinkedElsewhere || !follows || this.hash === undefined || claimed?.prevHash === this.hash;
    if (claimed === undefined || !linked || !(follows || mayHaveGaps) || !isFactIntact(fact, sha256)) {
      throw new PerdureError('PERDURE_CHAIN_BROKEN', {
        stream: this.stream,
        revision: follows || mayHaveGaps ? fact.revision : this.revision + 1,
      });
    }
    this.revision = fact.revision;
    this.hash = claimed.hash;
  }

  /** The last revision that was checked, and its hash. */
  get end(): { readonly revision: number; readonly hash: string | undefined } {
    return { revision: this.revision, hash: this.hash };
  }
}
