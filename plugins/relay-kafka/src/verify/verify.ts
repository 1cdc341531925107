import type { RecordedFact } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { kafkaClient } from '../kafka/client.js';
import { relayFailure } from '../kafka/failure.js';
import { TopicReader } from '../kafka/topic-reader.js';
import type { RelayOptions } from '../options.js';
import { Planner } from '../pump/planner.js';
import { StreamMemory } from '../pump/stream-memory.js';
import { topicNames } from '../topics/topic-names.js';
import { factDigest, readTopicSide, type StreamSide, type TopicSide } from './topic-side.js';

/** Differences that are named; all are counted. */
const NAMED = 20;

export interface Difference {
  /**
   * `missing`: in the store and not on the topic. `unknown`: on the topic and not in the store. `different`: it has
   * other bytes.
   */
  readonly kind: 'missing' | 'unknown' | 'different';
  readonly stream: string;
  readonly revision: number;
}

/** How a topic and a store compare. */
export interface Verification {
  /** Whether each fact up to the topic's last position is on it, as it is stored, and nothing else is. */
  readonly agrees: boolean;
  readonly topic: string;
  /** Facts that are the same on both sides. */
  readonly equal: number;
  /** Facts in whose place there is a stub. */
  readonly stubs: number;
  readonly missing: number;
  readonly unknown: number;
  readonly different: number;
  /** Messages of which a reader would raise the alarm, and those that are no facts. */
  readonly gaps: number;
  readonly unreadable: number;
  /** Messages that came again. They are no difference. */
  readonly doubles: number;
  /** Facts that were erased in the store since, and those that are past the topic's retention. */
  readonly erased: number;
  readonly expired: number;
  /** Facts behind the topic's last position, which the relay has still to bring. */
  readonly behind: number;
  readonly differences: readonly Difference[];
}

/**
 * Compares all of the facts topic with the store, both ways. Throws PERDURE_RELAY_UNAVAILABLE, PERDURE_RELAY_DENIED and
 * what the store throws.
 */
export async function verifyTopic(
  store: EventStore,
  options: RelayOptions,
  signal?: AbortSignal,
): Promise<Verification> {
  const topic = topicNames(options.topics.prefix).facts;
  const side = await topicSide(options, topic, signal);
  const comparison = new Comparison(side);
  const planner = new Planner(store, options.filter, new StreamMemory(options.remembered));
  const wanted = new Map<string, boolean>();
  const categories = ['session', 'budget'];
  for await (const { facts, caughtUp } of store.subscribe(
    { all: true },
    { categories, ...(signal === undefined ? {} : { signal }) },
  )) {
    for (const fact of facts) {
      const isWanted = wanted.get(fact.stream) ?? (await planner.isWanted(fact));
      wanted.set(fact.stream, isWanted);
      if (isWanted) comparison.take(fact);
    }
    if (caughtUp) break;
  }
  await comparison.takeRest(store);
  const { gaps, unreadable, doubles } = side;
  const { counts, differences } = comparison;
  const wrong = counts.missing + counts.unknown + counts.different + gaps + unreadable;
  return { agrees: wrong === 0, topic, ...counts, gaps, unreadable, doubles, differences };
}

async function topicSide(options: RelayOptions, topic: string, signal?: AbortSignal): Promise<TopicSide> {
  try {
    const reader = await TopicReader.open(await kafkaClient(options), options);
    return await readTopicSide(reader, topic, signal).finally(() => reader.close());
  } catch (error) {
    signal?.throwIfAborted();
    throw relayFailure(error);
  }
}

class Comparison {
  readonly counts = { equal: 0, stubs: 0, missing: 0, unknown: 0, different: 0, erased: 0, expired: 0, behind: 0 };
  readonly differences: Difference[] = [];
  /** What is on the topic of a stream and was passed by in the store. */
  private readonly passed = new Map<string, number[]>();

  constructor(private readonly topic: TopicSide) {}

  /** Takes a fact of the store; those of a stream come in order. */
  take(fact: RecordedFact): void {
    const { stream, revision, position } = fact;
    if (this.topic.position === undefined || position > this.topic.position) {
      this.counts.behind += 1;
      return;
    }
    const side = this.topic.streams.get(stream);
    if (side === undefined) {
      this.lack(stream, revision, undefined);
      return;
    }
    while (side.met < side.revisions.length && (side.revisions[side.met] ?? 0) < revision) this.pass(stream, side);
    if (side.revisions[side.met] !== revision) {
      this.lack(stream, revision, side);
      return;
    }
    const digest = side.digests[side.met];
    side.met += 1;
    if (digest === undefined) this.counts.stubs += 1;
    else if (digest === factDigest(fact)) this.counts.equal += 1;
    else this.differ('different', stream, revision);
  }

  /** Looks at what is on the topic and did not come from the store: it was erased there, or is unknown. */
  async takeRest(store: EventStore): Promise<void> {
    for (const [stream, side] of this.topic.streams) while (side.met < side.revisions.length) this.pass(stream, side);
    for (const [stream, revisions] of this.passed) {
      const { facts, head } = await store.read(stream, { limit: 1 });
      const first = facts[0]?.revision ?? (head === 'none' ? 0 : head + 1);
      for (const revision of revisions) {
        if (revision < first) this.counts.erased += 1;
        else this.differ('unknown', stream, revision);
      }
    }
  }

  private pass(stream: string, side: StreamSide): void {
    const revision = side.revisions[side.met] ?? 0;
    side.met += 1;
    const known = this.passed.get(stream);
    if (known === undefined) this.passed.set(stream, [revision]);
    else known.push(revision);
  }

  private lack(stream: string, revision: number, side: StreamSide | undefined): void {
    const isBeforeAll = side === undefined || revision < (side.revisions[0] ?? 0);
    if (this.topic.hasExpired && isBeforeAll) this.counts.expired += 1;
    else this.differ('missing', stream, revision);
  }

  private differ(kind: Difference['kind'], stream: string, revision: number): void {
    this.counts[kind] += 1;
    if (this.differences.length < NAMED) this.differences.push({ kind, stream, revision });
  }
}
