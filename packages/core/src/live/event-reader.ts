import {
  coreDefinition,
  isCoreType,
  type EventEnvelopeV1,
  type JsonValue,
  type PayloadOf,
  type WireEvent,
  type WireLookup,
} from '@perdure/events';
import { metadataOnWire } from './envelope-metadata.js';
import type { CommittedFact } from '../session/journal.js';
import { currentTurn, initialState } from '../session/session-state.js';
import type { Cursor } from './cursor.js';
import { FeedWalk, walkFeed, type FeedItem, type FeedSource, type ReaderEnds } from './feed-walk.js';
import { progressOnWire } from './child-progress.js';
import { deltaOnWire, type AnswerKey } from './live-answer.js';
import { LiveFeed } from './live-feed.js';

/** What a reader of events needs of a session. */
export interface EventSource extends FeedSource {
  readonly sessionId: string;
  readonly lookup: WireLookup;
}

const NOTHING_GROWS = new LiveFeed();

/** Everything behind a cursor, then what comes, as events; see `walkFeed`. */
export async function* readEvents(
  source: EventSource,
  from: Cursor,
  ends: ReaderEnds,
): AsyncGenerator<EventEnvelopeV1, void, undefined> {
  const writer = new EnvelopeWriter(source);
  for await (const item of walkFeed(source, from, ends)) {
    for (const envelope of writer.envelopesOf(item)) {
      if (ends.signal?.aborted === true) return;
      yield envelope;
    }
  }
}

class EnvelopeWriter {
  private grows: { readonly key: AnswerKey; readonly about: Record<string, JsonValue> } | undefined;

  constructor(private readonly source: EventSource) {}

  envelopesOf(item: FeedItem): readonly EventEnvelopeV1[] {
    if (item.kind === 'progress') {
      const metadata = { cursor: item.cursor, ...liveMetadata(this.source) };
      return [{ version: 1, ...progressOnWire(item.progress), metadata }];
    }
    if (item.kind === 'delta') {
      const event = deltaOnWire(item.delta);
      return event === undefined ? [] : [this.envelope(event, item)];
    }
    return wireEventsOf(item.fact, this.source.lookup).map((event) => this.envelope(event, item));
  }

  private envelope({ type, payload }: WireEvent, item: Exclude<FeedItem, { kind: 'progress' }>): EventEnvelopeV1 {
    const { fact, cursor } = item;
    const about = item.kind === 'delta' && item.fact === undefined ? this.aboutLive(item.key) : metadataOf(item.fact);
    const stored = fact === undefined ? {} : { revision: fact.revision, event_id: fact.recorded.id };
    return { version: 1, type, payload, metadata: { cursor, ...about, ...stored } };
  }

  private aboutLive(key: AnswerKey): Record<string, JsonValue> {
    if (this.grows?.key !== key) this.grows = { key, about: liveMetadata(this.source) };
    return this.grows.about;
  }
}

function metadataOf(fact: CommittedFact | undefined): Record<string, JsonValue> {
  return fact === undefined ? {} : metadataOnWire(fact.recorded.metadata);
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
  const writer = new EnvelopeWriter(source);
  const walk = new FeedWalk(source, { revision: fact.revision - 1 });
  return [...walk.ofFact(fact)].flatMap((item) => writer.envelopesOf(item));
}

/** What the deltas of an answer have not said. A fact that this build does not know keeps its type and payload. */
function wireEventsOf(fact: CommittedFact, lookup: WireLookup): readonly WireEvent[] {
  const isStepAnswer = fact.type === 'ModelAnswered' && (fact.payload as PayloadOf<'ModelAnswered'>).purpose === 'step';
  if (isStepAnswer) return [];
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
