import type { AllStreamSubscription, ResolvedEvent, StreamSubscription } from '@eventstore/db-client';

export type Noted = 'confirmation' | 'caughtUp' | 'checkpoint' | ResolvedEvent;

/** What a subscription was sent, in order. */
export class Follower {
  readonly notes: Noted[] = [];
  error: Error | undefined;
  private readonly waiting = new Set<() => void>();
  private readonly subscription: AllStreamSubscription | StreamSubscription;

  constructor(subscription: AllStreamSubscription | StreamSubscription) {
    this.subscription = subscription;
    subscription.on('confirmation', () => this.note('confirmation'));
    subscription.on('caughtUp', () => this.note('caughtUp'));
    subscription.on('data', (event: ResolvedEvent) => this.note(event));
    subscription.on('error', (error: Error) => {
      this.error = error;
      this.wake();
    });
  }

  readonly note = (noted: Noted): void => {
    this.notes.push(noted);
    this.wake();
  };

  get events(): readonly ResolvedEvent[] {
    return this.notes.filter((noted) => typeof noted !== 'string');
  }

  /** Waits until the notes are as wanted; the time limit of the test ends it. */
  async until(isReached: (follower: this) => boolean): Promise<void> {
    while (!isReached(this)) {
      await new Promise<void>((resolve) => this.waiting.add(resolve));
    }
  }

  async caughtUp(): Promise<void> {
    await this.until(({ notes }) => notes.includes('caughtUp'));
  }

  async received(count: number): Promise<void> {
    await this.until(({ events }) => events.length >= count);
  }

  end(): Promise<void> {
    return this.subscription.unsubscribe();
  }

  private wake(): void {
    for (const resolve of this.waiting) resolve();
    this.waiting.clear();
  }
}
