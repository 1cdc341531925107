import {
  coreDefinition,
  isCoreType,
  partLength,
  partOnWire,
  type AnswerPart,
  type EventEnvelopeV1,
  type JsonValue,
  type PayloadOf,
  type WireEvent,
  type WireLookup,
} from '@perdure/events';
import { isPerdureError } from '@perdure/plugin-api';
import { metadataOnWire } from './envelope-metadata.js';
import type { CommittedFact } from '../session/journal.js';
import { currentTurn, initialState, type SessionState } from '../session/session-state.js';
import { formatCursor, type AnswerPlace, type Cursor } from './cursor.js';
import { deltaOnWire, sizeOf, type LiveAnswer } from './live-answer.js';
import { LiveFeed } from './live-feed.js';

/** What a reader needs of a session. */
export interface EventSource {
  readonly sessionId: string;
  readonly feed: LiveFeed;
  readonly lookup: WireLookup;
  readonly head: () => number;
  readonly state: () => SessionState;
  /** Facts behind a revision from the store, some at a time; empty at the end. */
  readonly read: (after: number) => Promise<readonly CommittedFact[]>;
}

const NOTHING_GROWS = new LiveFeed();

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
 * The text of an answer is given once, as deltas while it grows and otherwise with its fact.
 */
export async function* readEvents(
  source: EventSource,
  from: Cursor,
  { signal, over }: ReaderEnds,
): AsyncGenerator<EventEnvelopeV1, void, undefined> {
  const reader = new EventReader(source, from);
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
      for await (const envelope of reader.available()) {
        if (signal?.aborted === true) return;
        found = true;
        yield envelope;
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

class EventReader {
  private revision: number;
  private place: AnswerPlace | undefined;
  private answer: LiveAnswer | undefined;
  private nextDelta = 0;
  private about: Record<string, JsonValue> = {};

  constructor(
    private readonly source: EventSource,
    from: Cursor,
  ) {
    this.revision = from.revision;
    this.place = from.place;
  }

  /** Everything that can be given without waiting for something to happen. */
  async *available(): AsyncGenerator<EventEnvelopeV1, void, undefined> {
    while (this.revision < this.source.head()) {
      const facts = this.source.feed.factsAfter(this.revision) ?? (await this.source.read(this.revision));
      if (facts.length === 0) return;
      for (const fact of facts) yield* this.ofFact(fact);
    }
    const growing = this.growing();
    if (growing !== undefined) yield* this.ofAnswer(growing);
  }

  *ofFact(fact: CommittedFact): Generator<EventEnvelopeV1> {
    if (fact.type === 'ModelAnswered' || fact.type === 'AnswerInterrupted') {
      const payload = fact.payload as PayloadOf<'ModelAnswered'> | PayloadOf<'AnswerInterrupted'>;
      const isStep = !('purpose' in payload) || payload.purpose === 'step';
      if (isStep && payload.stepId !== undefined) {
        const live = this.source.feed.answer(payload.stepId, payload.attempt);
        if (live !== undefined) yield* this.ofAnswer(live);
        yield* this.restOf(payload.parts, fact);
      }
      // An answer that is no step's comes beside the one that grows.
      if (isStep) this.leaveAnswer();
      this.revision = fact.revision;
      if (!isStep || fact.type === 'AnswerInterrupted') yield* this.onWire(fact);
      return;
    }
    if (fact.type === 'StepStarted' || isFailedStep(fact)) this.leaveAnswer();
    this.revision = fact.revision;
    yield* this.onWire(fact);
  }

  private *onWire(fact: CommittedFact): Generator<EventEnvelopeV1> {
    for (const event of wireEventsOf(fact, this.source.lookup)) yield this.envelope(event, fact);
  }

  /** What a reader has not seen of an answer that is a fact. */
  private *restOf(parts: readonly AnswerPart[], fact: CommittedFact): Generator<EventEnvelopeV1> {
    for (const [index, part] of parts.entries()) {
      const from = this.place ?? { part: 0, offset: 0 };
      if (index < from.part) continue;
      const offset = index === from.part ? from.offset : 0;
      const events = partOnWire(part, offset);
      for (const [at, event] of events.entries()) {
        const isLast = at === events.length - 1;
        this.place = { part: index, offset: isLast ? partLength(part) : offset + at + 1 };
        yield this.envelope(event, fact);
      }
    }
  }

  private *ofAnswer(answer: LiveAnswer): Generator<EventEnvelopeV1> {
    if (this.answer !== answer) {
      this.answer = answer;
      this.about = liveMetadata(this.source);
      const { index, rest } = answer.seek(this.place ?? { part: 0, offset: 0 });
      this.nextDelta = index;
      if (rest !== undefined) yield* this.ofDelta(rest);
    }
    while (this.nextDelta < answer.deltas.length) {
      const delta = answer.deltas[this.nextDelta++];
      if (delta !== undefined) yield* this.ofDelta(delta);
    }
  }

  private *ofDelta(delta: LiveAnswer['deltas'][number]): Generator<EventEnvelopeV1> {
    const before = this.place?.part === delta.part ? this.place.offset : 0;
    const event = deltaOnWire(delta);
    if (event === undefined) return;
    this.place = { part: delta.part, offset: before + sizeOf(delta) };
    yield this.envelope(event, undefined);
  }

  /** The answer that the session waits for, when this reader has everything before it. */
  private growing(): LiveAnswer | undefined {
    const step = currentTurn(this.source.state())?.step;
    if (step === undefined || step.answer !== undefined || step.interrupted !== undefined) return undefined;
    return this.source.feed.answer(step.stepId, step.failures + 1);
  }

  private leaveAnswer(): void {
    this.place = undefined;
    this.answer = undefined;
    this.nextDelta = 0;
  }

  private envelope(event: WireEvent, fact: CommittedFact | undefined): EventEnvelopeV1 {
    const cursor = formatCursor(this.revision, this.place);
    const about: Record<string, JsonValue> = fact === undefined ? this.about : metadataOnWire(fact.recorded.metadata);
    const stored = fact === undefined ? {} : { revision: fact.revision, event_id: fact.recorded.id };
    return { version: 1, type: event.type, payload: event.payload, metadata: { cursor, ...about, ...stored } };
  }
}

function isFailedStep({ type, payload }: CommittedFact): boolean {
  return type === 'ModelCallFailed' && (payload as PayloadOf<'ModelCallFailed'>).purpose === 'step';
}

/** A fact as a reader gets it who comes when it is stored. */
export function eventsOfFact(sessionId: string, fact: CommittedFact, lookup: WireLookup): readonly EventEnvelopeV1[] {
  const source: EventSource = {
    sessionId,
    feed: NOTHING_GROWS,
    lookup,
    head: () => fact.revision,
    state: () => initialState,
    read: () => Promise.resolve([]),
  };
  return [...new EventReader(source, { revision: fact.revision - 1 }).ofFact(fact)];
}

/** A fact that this build does not know keeps its type and payload. */
function wireEventsOf(fact: CommittedFact, lookup: WireLookup): readonly WireEvent[] {
  if (isCoreType(fact.type)) return coreDefinition(fact.type).wire.project(fact.payload, lookup);
  const payload = fact.payload as JsonValue;
  const isRecord = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
  return [{ type: fact.type, payload: isRecord ? payload : { value: payload } }];
}

function liveMetadata(source: EventSource): Record<string, JsonValue> {
  const turn = currentTurn(source.state());
  const run = turn?.runs.at(-1);
  return {
    session_id: source.sessionId,
    ...(turn === undefined ? {} : { turn_id: turn.turnId }),
    ...(run === undefined ? {} : { run_id: run.runId }),
    ...(turn?.step === undefined ? {} : { step_id: turn.step.stepId }),
  };
}
