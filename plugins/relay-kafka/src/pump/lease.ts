import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { relayStream, type RecordedFact } from '@perdure/events';
import { PerdureError, type EventStore, type ExpectedRevision } from '@perdure/plugin-api';
import { z } from 'zod';

type LeaseFactType = 'RelayTaken' | 'RelayRenewed' | 'RelayReleased';

const sign = z.object({
  epoch: z.int().positive(),
  node: z.string(),
  incarnation: z.string(),
  ttlMs: z.number().positive(),
});
type Sign = z.output<typeof sign>;

/** Who has a relay, as the store says. */
export interface RelayOwner extends Sign {
  readonly isReleased: boolean;
}

/** The last life sign of whoever relays to a target; `undefined` when nobody ever has. */
export async function relayOwner(store: EventStore, target: string): Promise<RelayOwner | undefined> {
  const { facts } = await store.read(relayStream(target), { direction: 'backwards', limit: 1 });
  return facts[0] === undefined ? undefined : ownerIn(facts[0]);
}

export interface LeaseOptions {
  readonly target: string;
  readonly node: string;
  /** Milliseconds without a life sign after which another takes over. */
  readonly ttlMs: number;
}

/**
 * The right to relay to a target, by epochs in a stream of the store: everything is appended at the exact revision, so
 * that one of two who want it has it, and one that lost it finds out with its next life sign. An owner counts as dead
 * when an observer saw none for the owner's own time to live, on the observer's monotonic clock.
 */
export class RelayLease {
  readonly incarnation = randomUUID();
  private head: ExpectedRevision = 'none';
  private held = 0;
  private renewedAt = Number.NEGATIVE_INFINITY;
  private timer: NodeJS.Timeout | undefined;
  private renewing: Promise<void> | undefined;
  private lost = new AbortController();

  constructor(
    private readonly store: EventStore,
    private readonly options: LeaseOptions,
  ) {}

  /** The number of the ownership; 0 without one. */
  get epoch(): number {
    return this.held;
  }

  /** Aborted when another one has taken it. */
  get lostSignal(): AbortSignal {
    return this.lost.signal;
  }

  /** Waits until nobody else has it, and takes it. Throws the reason of the signal. */
  async take(signal: AbortSignal): Promise<void> {
    const { ttlMs } = this.options;
    let seen: { readonly head: ExpectedRevision; readonly since: number } | undefined;
    for (;;) {
      signal.throwIfAborted();
      const page = await this.store.read(this.stream, { direction: 'backwards', limit: 1 });
      const owner = page.facts[0] === undefined ? undefined : ownerIn(page.facts[0]);
      if (seen === undefined || seen.head !== page.head) seen = { head: page.head, since: performance.now() };
      const isFree = owner === undefined || owner.isReleased || performance.now() - seen.since >= owner.ttlMs;
      if (isFree && (await this.claim(page.head, (owner?.epoch ?? 0) + 1))) return;
      if (!isFree) await delay(Math.min(ttlMs, owner.ttlMs) / 10, undefined, { signal });
    }
  }

  /** Makes sure that nobody can have taken it. Throws PERDURE_RELAY_FENCED when somebody has. */
  async confirm(): Promise<void> {
    if (performance.now() - this.renewedAt >= this.options.ttlMs) await this.renew();
    if (this.lost.signal.aborted) throw this.fenced();
  }

  /** Gives a life sign at once. Throws PERDURE_RELAY_FENCED when another has taken it, and what the store throws. */
  renew(): Promise<void> {
    this.renewing ??= this.append('RelayRenewed').finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  /** Lets it go, so that nobody has to wait for the end of its time. */
  async release(): Promise<void> {
    clearInterval(this.timer);
    await this.renewing?.catch(() => undefined);
    if (this.held === 0 || this.lost.signal.aborted) return;
    await this.append('RelayReleased').catch(() => undefined);
    this.held = 0;
  }

  private get stream(): string {
    return relayStream(this.options.target);
  }

  private async claim(head: ExpectedRevision, epoch: number): Promise<boolean> {
    this.head = head;
    this.lost = new AbortController();
    this.held = epoch;
    const isTaken = await this.append('RelayTaken').then(
      () => true,
      (error: unknown) => {
        this.held = 0;
        if (this.lost.signal.aborted) return false;
        throw error;
      },
    );
    if (!isTaken) return false;
    clearInterval(this.timer);
    this.timer = setInterval(() => void this.renew().catch(() => undefined), this.options.ttlMs / 3);
    this.timer.unref();
    return true;
  }

  private async append(type: LeaseFactType): Promise<void> {
    if (this.lost.signal.aborted) throw this.fenced();
    const { node, ttlMs } = this.options;
    const payload: Sign = { epoch: this.held, node, incarnation: this.incarnation, ttlMs };
    const fact = { id: randomUUID(), type, payload: JSON.stringify(payload), metadata: '{}' };
    for (;;) {
      const startedAt = performance.now();
      const outcome = await this.store.append(this.stream, [fact], { expected: this.head });
      if (outcome.status === 'ambiguous') continue;
      if (outcome.status !== 'stored') {
        clearInterval(this.timer);
        this.lost.abort(this.fenced());
        throw this.fenced();
      }
      this.head = outcome.revision;
      this.renewedAt = startedAt;
      await this.store.truncate(this.stream, outcome.revision);
      return;
    }
  }

  private fenced(): PerdureError {
    return new PerdureError('PERDURE_RELAY_FENCED', { target: this.options.target, epoch: this.held });
  }
}

function ownerIn({ type, payload }: RecordedFact): RelayOwner | undefined {
  const parsed = sign.safeParse(JSON.parse(payload));
  return parsed.success ? { ...parsed.data, isReleased: type === 'RelayReleased' } : undefined;
}
