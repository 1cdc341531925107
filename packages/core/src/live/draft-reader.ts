import { draftStream, type AnswerPart, type RecordedFact, type SessionKey } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { partsOfRuns, unpackRun, type DraftBatch } from './draft-codec.js';
import type { AnswerKey, LiveAnswer } from './live-answer.js';
import type { LiveFeed } from './live-feed.js';

/** What a dead owner's draft holds of an answer; `undefined` when it holds nothing of it. */
export async function readDraft(
  store: EventStore,
  key: SessionKey,
  answer: AnswerKey,
): Promise<readonly AnswerPart[] | undefined> {
  const batches: DraftBatch[] = [];
  for (let from: number | undefined = 0; from !== undefined;) {
    const page: Awaited<ReturnType<EventStore['read']>> = await store.read(draftStream(key), { from });
    batches.push(...page.facts.map(batchOf).filter((batch) => isOf(batch, answer)));
    from = page.next;
  }
  const parts = partsOfRuns(batches.flatMap(({ runs }) => runs));
  return parts.length === 0 ? undefined : parts;
}

/** Follows the draft that another process writes, and gives its deltas to the feed of this one. */
export async function followDraft(
  store: EventStore,
  key: SessionKey,
  feed: LiveFeed,
  signal: AbortSignal,
): Promise<void> {
  let answer: LiveAnswer | undefined;
  for await (const { facts } of store.subscribe({ stream: draftStream(key) }, { signal })) {
    for (const batch of facts.map(batchOf)) {
      if (answer === undefined || !isOf(batch, answer.key)) {
        answer = feed.beginAnswer({ stepId: batch.stepId, attempt: batch.attempt });
      }
      for (const run of batch.runs) for (const delta of unpackRun(run)) feed.addDelta(answer, delta);
    }
  }
}

function batchOf(fact: RecordedFact): DraftBatch {
  return JSON.parse(fact.payload) as DraftBatch;
}

function isOf(batch: AnswerKey, answer: AnswerKey): boolean {
  return batch.stepId === answer.stepId && batch.attempt === answer.attempt;
}
