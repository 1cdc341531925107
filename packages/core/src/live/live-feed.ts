import type { AnswerDelta } from '../invoke/answer-builder.js';
import type { CommittedFact } from '../session/journal.js';
import type { ChildProgress } from './child-progress.js';
import { LiveAnswer, type AnswerKey } from './live-answer.js';
import { Pulse } from './pulse.js';

/** Facts kept for readers that follow closely; others read the store. And how much progress is kept for them. */
const RECENT = 256;

/** What was told of a child's progress, and the last fact that was there before it. */
export interface LiveProgress {
  readonly progress: ChildProgress;
  readonly after: number;
}

export type DeltaListener = (key: AnswerKey, delta: AnswerDelta) => void;

/**
 * What happens in one session, for the readers of this process: the newest facts, the answer that grows, and how its
 * children get on. It keeps a bounded part of these and one answer; nothing is queued for a reader.
 */
export class LiveFeed {
  readonly pulse = new Pulse();
  private readonly recent: CommittedFact[] = [];
  private growing: LiveAnswer | undefined;
  private readonly progress: LiveProgress[] = [];
  /** How often progress was told. */
  progressCount = 0;
  private readonly deltaListeners = new Set<DeltaListener>();

  /** Takes in what was committed, in the order of revisions. */
  addFacts(facts: readonly CommittedFact[]): void {
    this.recent.push(...facts);
    if (this.recent.length > 2 * RECENT) this.recent.splice(0, this.recent.length - RECENT);
    this.pulse.beat();
  }

  /** The facts behind a revision, or `undefined` when they are no longer kept. */
  factsAfter(revision: number): readonly CommittedFact[] | undefined {
    const first = this.recent[0];
    if (first === undefined || revision + 1 < first.revision) return undefined;
    return this.recent.slice(revision + 1 - first.revision);
  }

  addProgress(progress: ChildProgress): void {
    this.progress.push({ progress, after: this.recent.at(-1)?.revision ?? -1 });
    if (this.progress.length > RECENT) this.progress.shift();
    this.progressCount += 1;
    this.pulse.beat();
  }

  /** What was told behind so many others; `undefined` when that is no longer kept or has not been told. */
  progressAt(place: number): LiveProgress | undefined {
    return this.progress[place - (this.progressCount - this.progress.length)];
  }

  beginAnswer(key: AnswerKey): LiveAnswer {
    this.growing = new LiveAnswer(key);
    return this.growing;
  }

  addDelta(answer: LiveAnswer, delta: AnswerDelta): void {
    answer.deltas.push(delta);
    for (const listener of this.deltaListeners) listener(answer.key, delta);
    this.pulse.beat();
  }

  /** The answer of a step's try, as long as it is the newest. */
  answer(stepId: string, attempt: number): LiveAnswer | undefined {
    const { growing } = this;
    return growing?.key.stepId === stepId && growing.key.attempt === attempt ? growing : undefined;
  }

  onDelta(listener: DeltaListener): () => void {
    this.deltaListeners.add(listener);
    return () => this.deltaListeners.delete(listener);
  }
}
