import { argumentText, partLength, type AnswerPart, type PayloadOf } from '@perdure/events';
import { isPerdureError } from '@perdure/plugin-api';
import type { AnswerDelta } from '../invoke/answer-builder.js';
import type { CommittedFact } from '../session/journal.js';
import { currentTurn, type SessionState } from '../session/session-state.js';
import type { ChildProgress } from './child-progress.js';
import { formatCursor, type AnswerPlace, type Cursor } from './cursor.js';
import { sizeOf, type AnswerKey, type LiveAnswer } from './live-answer.js';
import type { LiveFeed } from './live-feed.js';

/** What a reader needs of a session. */
export interface FeedSource {
  readonly feed: LiveFeed;
  readonly head: () => number;
  readonly state: () => SessionState;
  /** Facts behind a revision from the store, some at a time; empty at the end. */
  readonly read: (after: number) => Promise<readonly CommittedFact[]>;
}

/**
 * A fact, behind all that was told of it before; a piece of an answer, with its fact when that is stored; or how a
 * child gets on, which is no place to go on from.
 */
export type FeedItem =
  | { readonly kind: 'progress'; readonly progress: ChildProgress; readonly cursor: string }
  | { readonly kind: 'fact'; readonly fact: CommittedFact; readonly cursor: string }
  | {
      readonly kind: 'delta';
      readonly key: AnswerKey;
      readonly delta: AnswerDelta;
      readonly cursor: string;
      readonly fact: CommittedFact | undefined;
    };

/**
 * What ends a reader: the caller's signal at once; the end of the session in this process when everything stored has
 * been given. An end that is not a closing is thrown.
 */
export interface ReaderEnds {
  readonly signal?: AbortSignal | undefined;
  readonly over: AbortSignal;
}

/**
 * Everything behind a cursor, then what comes: facts in the order of revisions, and between them the answer that grows.
 * The text of an answer is given once, as deltas while it grows and otherwise with its fact. Nothing is queued: a
 * reader that is slow reads on where it was.
 */
export async function* walkFeed(
  source: FeedSource,
  from: Cursor,
  { signal, over }: ReaderEnds,
): AsyncGenerator<FeedItem, void, undefined> {
  const walk = new FeedWalk(source, from);
  const pulse = source.feed.pulse;
  // The signals wake the reader as everything else does; it looks at them whenever it is awake.
  const wake = (): void => pulse.beat();
  signal?.addEventListener('abort', wake);
  over.addEventListener('abort', wake);
  try {
    for (;;) {
      const next = pulse.next();
      const isOver = over.aborted;
      let found = false;
      for await (const item of walk.available()) {
        if (signal?.aborted === true) return;
        found = true;
        yield item;
      }
      if (signal?.aborted === true) return;
      if (isOver && !found) {
        if (isPerdureError(over.reason, 'PERDURE_SESSION_CLOSED')) return;
        throw over.reason;
      }
      if (!found) await next;
    }
  } finally {
    signal?.removeEventListener('abort', wake);
    over.removeEventListener('abort', wake);
  }
}

/** A place in a session's facts and in the answer that grows behind them. */
export class FeedWalk {
  private revision: number;
  private place: AnswerPlace | undefined;
  private answer: LiveAnswer | undefined;
  private nextDelta = 0;
  private nextProgress: number;

  constructor(
    private readonly source: FeedSource,
    from: Cursor,
  ) {
    this.revision = from.revision;
    this.place = from.place;
    this.nextProgress = source.feed.progressCount;
  }

  /** Everything that can be given without waiting for something to happen. */
  async *available(): AsyncGenerator<FeedItem, void, undefined> {
    while (this.revision < this.source.head()) {
      const facts = this.source.feed.factsAfter(this.revision) ?? (await this.source.read(this.revision));
      if (facts.length === 0) return;
      for (const fact of facts) yield* this.ofFact(fact);
    }
    yield* this.ofProgress(Number.POSITIVE_INFINITY);
    const growing = growingAnswer(this.source);
    if (growing !== undefined) yield* this.ofAnswer(growing);
  }

  *ofFact(fact: CommittedFact): Generator<FeedItem> {
    yield* this.ofProgress(fact.revision);
    if (fact.type === 'ModelAnswered' || fact.type === 'AnswerInterrupted') {
      const payload = fact.payload as PayloadOf<'ModelAnswered'> | PayloadOf<'AnswerInterrupted'>;
      const isStep = !('purpose' in payload) || payload.purpose === 'step';
      if (isStep && payload.stepId !== undefined) {
        const key = { stepId: payload.stepId, attempt: payload.attempt };
        const live = this.source.feed.answer(key.stepId, key.attempt);
        if (live !== undefined) yield* this.ofAnswer(live);
        yield* this.restOf(payload.parts, key, fact);
      }
      // An answer that is no step's comes beside the one that grows.
      if (isStep) this.leaveAnswer();
    } else if (fact.type === 'StepStarted' || isFailedStep(fact)) this.leaveAnswer();
    this.revision = fact.revision;
    yield { kind: 'fact', fact, cursor: this.cursor };
  }

  /** What was told of children before a fact, since the reader began. */
  private *ofProgress(before: number): Generator<FeedItem> {
    const { feed } = this.source;
    for (; this.nextProgress < feed.progressCount; this.nextProgress++) {
      const told = feed.progressAt(this.nextProgress);
      if (told === undefined) continue;
      if (told.after >= before) return;
      yield { kind: 'progress', progress: told.progress, cursor: this.cursor };
    }
  }

  /** What a reader has not seen of an answer that is a fact. */
  private *restOf(parts: readonly AnswerPart[], key: AnswerKey, fact: CommittedFact): Generator<FeedItem> {
    for (const [index, part] of parts.entries()) {
      const from = this.place ?? { part: 0, offset: 0 };
      if (index < from.part) continue;
      const offset = index === from.part ? from.offset : 0;
      const deltas = deltasOf(part, index, offset);
      for (const [at, delta] of deltas.entries()) {
        const isLast = at === deltas.length - 1;
        this.place = { part: index, offset: isLast ? partLength(part) : offset + at + 1 };
        yield { kind: 'delta', key, delta, cursor: this.cursor, fact };
      }
    }
  }

  private *ofAnswer(answer: LiveAnswer): Generator<FeedItem> {
    if (this.answer !== answer) {
      this.answer = answer;
      const { index, rest } = answer.seek(this.place ?? { part: 0, offset: 0 });
      this.nextDelta = index;
      if (rest !== undefined) yield this.ofDelta(rest, answer);
    }
    while (this.nextDelta < answer.deltas.length) {
      const delta = answer.deltas[this.nextDelta++];
      if (delta !== undefined) yield this.ofDelta(delta, answer);
    }
  }

  private ofDelta(delta: AnswerDelta, { key }: LiveAnswer): FeedItem {
    // What tells of progress alone is no place to go on from.
    if (delta.kind !== 'tool-progress') {
      const before = this.place?.part === delta.part ? this.place.offset : 0;
      this.place = { part: delta.part, offset: before + sizeOf(delta) };
    }
    return { kind: 'delta', key, delta, cursor: this.cursor, fact: undefined };
  }

  private get cursor(): string {
    return formatCursor(this.revision, this.place);
  }

  private leaveAnswer(): void {
    this.place = undefined;
    this.answer = undefined;
    this.nextDelta = 0;
  }
}

/** The place behind everything that there is at the moment. */
export function presentPlace(source: FeedSource): Cursor {
  const revision = source.head();
  const growing = growingAnswer(source);
  const last = growing?.deltas.at(-1)?.part;
  if (growing === undefined || last === undefined) return { revision };
  const offset = growing.deltas.reduce((sum, delta) => (delta.part === last ? sum + sizeOf(delta) : sum), 0);
  return { revision, place: { part: last, offset } };
}

/** The answer that the session waits for. */
function growingAnswer({ state, feed }: FeedSource): LiveAnswer | undefined {
  const step = currentTurn(state())?.step;
  if (step === undefined || step.answer !== undefined || step.interrupted !== undefined) return undefined;
  return feed.answer(step.stepId, step.failures + 1);
}

/** A part from a place on, as it would have grown. */
function deltasOf(part: AnswerPart, index: number, offset: number): readonly AnswerDelta[] {
  switch (part.type) {
    case 'text':
    case 'reasoning': {
      const text = part.text.slice(offset);
      return text === '' ? [] : [{ part: index, kind: part.type, text }];
    }
    case 'tool-call': {
      const { callId, name } = part;
      const deltas: readonly AnswerDelta[] = [
        { part: index, kind: 'tool-start', callId, name },
        { part: index, kind: 'tool-input', callId, text: argumentText(part) },
      ];
      return deltas.slice(offset);
    }
    case 'file':
      return offset === 0 ? [{ part: index, kind: 'file', mediaType: part.mediaType }] : [];
  }
}

function isFailedStep({ type, payload }: CommittedFact): boolean {
  return type === 'ModelCallFailed' && (payload as PayloadOf<'ModelCallFailed'>).purpose === 'step';
}
