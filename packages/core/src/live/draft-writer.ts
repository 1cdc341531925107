import { randomUUID } from 'node:crypto';
import { draftStream, type SessionKey } from '@perdure/events';
import { reasonOf, type EventStore, type ExpectedRevision, type Logger } from '@perdure/plugin-api';
import type { LiveAnswer } from './live-answer.js';
import { packDeltas } from './draft-codec.js';

/** Nothing is written before one of these is reached: short answers leave no draft. */
const FIRST_MS = 50;
const FIRST_CHARACTERS = 4_096;
/** The longer the answer, the longer the pauses and the larger the batches: bytes stay linear in the text. */
const SLOWEST_MS = 250;
/** How often a batch is sent whose answer was lost. */
const TRIES = 3;

/**
 * Keeps a growing answer in the session's draft stream, in batches, beside the deltas' way to readers: nobody waits for
 * it. Every append is at the exact revision, so that the first one of a new owner fences the old.
 */
export class DraftWriter {
  private readonly stream: string;
  private head: ExpectedRevision | undefined;
  /** Whether the stream holds something, and whether the answer that grows has put the first of it there. */
  private written = false;
  private isFirst = true;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private answer: LiveAnswer | undefined;
  private next = 0;
  private characters = 0;
  private shown = 0;
  private offsets: number[] = [];
  private lost = false;
  /** A part of it is not in the stream: what comes behind that would have a hole before it. */
  private failed: LiveAnswer | undefined;

  constructor(
    key: SessionKey,
    private readonly store: EventStore,
    private readonly epoch: number,
    private readonly logger: Logger,
  ) {
    this.stream = draftStream(key);
  }

  /** Another writer has the draft: the session was taken over. */
  get isFenced(): boolean {
    return this.lost;
  }

  begin(answer: LiveAnswer): void {
    this.settle();
    this.answer = answer;
    this.next = 0;
    this.characters = 0;
    this.shown = 0;
    this.offsets = [];
    this.isFirst = true;
  }

  /** Takes notice that the answer grew by some characters. */
  grew(characters: number): void {
    this.characters += characters;
    if (this.characters >= Math.max(FIRST_CHARACTERS, this.shown / 4)) this.flush();
    else
      this.timer ??= setTimeout(() => this.flush(), this.shown < 8 * FIRST_CHARACTERS ? FIRST_MS : SLOWEST_MS).unref();
  }

  /** The answer has ended: what is not written needs no draft any more. */
  settle(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.answer = undefined;
  }

  /** Gives up what the stream holds, once the answer is a fact or its turn has ended. What cannot be is left. */
  async discard(): Promise<void> {
    this.settle();
    await this.writing;
    if (!this.written || this.lost || typeof this.head !== 'number') return;
    this.written = false;
    await this.store.truncate(this.stream, this.head + 1).catch((error: unknown) => {
      this.written = true;
      this.report('A draft could not be given up.', error);
    });
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { answer } = this;
    if (answer === undefined || this.lost) return;
    const runs = packDeltas(answer.deltas.slice(this.next), this.offsets);
    this.next = answer.deltas.length;
    this.shown += this.characters;
    this.characters = 0;
    if (runs.length === 0) return;
    const payload = JSON.stringify({ epoch: this.epoch, ...answer.key, runs });
    const replaces = this.isFirst && this.written;
    this.isFirst = false;
    this.written = true;
    this.writing = this.writing
      .then(() => (this.failed === answer ? undefined : this.append(payload, replaces)))
      .catch((error: unknown) => {
        this.failed = answer;
        // Nobody knows what is stored of it.
        this.head = undefined;
        this.report('A draft could not be written.', error);
      });
  }

  /** A draft is a convenience; the answer itself is kept by its fact. */
  private report(message: string, error: unknown): void {
    this.logger.log('warn', message, { stream: this.stream, reason: reasonOf(error) });
  }

  private async append(payload: string, replaces: boolean): Promise<void> {
    if (this.lost) return;
    this.head ??= (await this.store.read(this.stream, { direction: 'backwards', limit: 1 })).head;
    const fact = { id: randomUUID(), type: 'DraftGrown', payload, metadata: '{}' };
    let outcome = await this.store.append(this.stream, [fact], { expected: this.head });
    for (let tries = 1; outcome.status === 'ambiguous' && tries < TRIES; tries++) {
      outcome = await this.store.append(this.stream, [fact], { expected: this.head });
    }
    if (outcome.status === 'stored') {
      this.head = outcome.revision;
      // The draft of an earlier answer is a fact by now.
      if (replaces) await this.store.truncate(this.stream, outcome.revision);
    } else if (outcome.status === 'conflict') this.lost = true;
    else throw new Error(`the draft stream answered ${outcome.status}`);
  }
}
