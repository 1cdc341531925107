import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { leaseStream } from '@perdure/events';
import {
  isPerdureError,
  PerdureError,
  reasonOf,
  type AppendResult,
  type EventStore,
  type ExpectedRevision,
  type Logger,
  type NodePresence,
  type ReadPage,
} from '@perdure/plugin-api';
import { readLifeSign, type LeaseFactType } from './life-sign.js';

/** Milliseconds between two looks at a lease that is watched. */
const WATCH_MS = 100;
/** How often a renewal is sent whose answer was lost. */
const TRIES = 3;
/** The part of a time to live until a renewal that failed is tried again. */
const RETRY = 0.1;

export interface LeaseOptions {
  /** Milliseconds without a renewal after which an observer counts the node as dead. */
  readonly ttlMs: number;
}

/** The part of a time to live that a look may take and still count: a longer one had to wait for the store. */
const QUICK_LOOK = 0.1;

interface Observation {
  /** What was seen of the lease. */
  readonly seen: string;
  /** When it was first seen so, on this process's monotonic clock, later by all the time that does not count. */
  readonly since: number;
  /** When it was last seen so. */
  readonly until: number;
}

/**
 * The life sign of this node: one lease for all its sessions, renewed in the store, and where the store can offer it a
 * mark that the system takes away with the process. All times are of the monotonic clock; nobody compares wall clocks.
 */
export class NodeLease {
  /** Whether this node takes no more sessions. */
  isDraining = false;
  private renewedAt: number | undefined;
  private liveSince = 0;
  private head: ExpectedRevision | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** The last renewal failed, and that was reported. */
  private isFailing = false;
  private holding: Promise<void> | undefined;
  private renewing: Promise<void> | undefined;
  private trimming: Promise<void> | undefined;
  private releasePresence: (() => Promise<void>) | undefined;
  private readonly observations = new Map<string, Observation>();

  constructor(
    readonly node: string,
    readonly incarnation: string,
    private readonly store: EventStore,
    private readonly presence: NodePresence | undefined,
    private readonly logger: Logger,
    private readonly options: LeaseOptions,
  ) {}

  /** Takes the lease up and keeps it renewed until `release`. Safe to repeat. */
  hold(): Promise<void> {
    this.holding ??= this.takeUp().catch((error: unknown) => {
      this.holding = undefined;
      throw error;
    });
    return this.holding;
  }

  /** Whether no observer can have counted this node as dead. Asked right before every effect. */
  isValid(): boolean {
    return this.renewedAt !== undefined && performance.now() - this.renewedAt < this.options.ttlMs;
  }

  /**
   * Whether no observer can have counted this node as dead since then, a time of the monotonic clock. A lease that ran
   * out and was renewed is valid again, and what this node had before may be another's.
   */
  isValidSince(time: number): boolean {
    return this.isValid() && time >= this.liveSince;
  }

  /** Renews a lease that ran out, for one because the process was stopped. Throws what the store throws. */
  async revive(): Promise<void> {
    if (!this.isValid()) await this.renew();
  }

  /** This node takes no more sessions. Those that it has go on until they are handed over. */
  drain(): void {
    this.isDraining = true;
  }

  /**
   * Whether another node counts as alive. A node whose mark is gone is dead at once; else it is alive until this
   * process has watched its lease for one time to live, as long as the lease itself says, without seeing it renewed.
   */
  async isAlive(node: string, incarnation: string): Promise<boolean> {
    // There is one process for a name. This one has it, so whatever ran under it before is gone.
    if (node === this.node) return false;
    return this.observe(node, incarnation);
  }

  /** The same for whatever process runs under the name, this one too. A node that has never had a lease is dead. */
  async isNodeAlive(node: string): Promise<boolean> {
    return node === this.node || this.observe(node, undefined);
  }

  /**
   * Watches the lease of a node until it is renewed, or for its whole time to live. Whether it lives; where the system
   * keeps a mark of the node, that tells it at once.
   */
  async confirm(node: string, signal?: AbortSignal): Promise<boolean> {
    if (node === this.node) return true;
    const mark = await this.presence?.isPresent(node);
    if (mark !== undefined) return mark;
    this.observations.delete(node);
    if (!(await this.observe(node, undefined))) return false;
    const first = this.observations.get(node)?.seen;
    for (;;) {
      await delay(WATCH_MS, undefined, { ref: false, ...(signal === undefined ? {} : { signal }) });
      if (!(await this.observe(node, undefined))) return false;
      if (this.observations.get(node)?.seen !== first) return true;
    }
  }

  /**
   * Time counts against a node only when this process could look meanwhile: waiting for a look does not, and behind one
   * that failed all watching begins anew. While the store was away no node could renew its lease.
   */
  private async observe(node: string, incarnation: string | undefined): Promise<boolean> {
    if ((await this.presence?.isPresent(node)) === false) return false;
    const startedAt = performance.now();
    const page = await this.look(node);
    const now = performance.now();
    const last = page.facts[0];
    const sign = last === undefined ? undefined : readLifeSign(last);
    if (sign !== undefined && (sign.isReleased || (incarnation ?? sign.incarnation) !== sign.incarnation)) return false;
    if (sign === undefined && incarnation === undefined) return false;
    const ttlMs = sign?.ttlMs ?? this.options.ttlMs;
    const seen = `${page.head}:${last?.id ?? ''}`;
    const previous = this.observations.get(node);
    if (previous === undefined || previous.seen !== seen) {
      this.observations.set(node, { seen, since: now, until: now });
      return true;
    }
    const waited = now - startedAt > ttlMs * QUICK_LOOK ? now - Math.max(startedAt, previous.until) : 0;
    const since = previous.since + Math.max(0, waited);
    this.observations.set(node, { seen, since, until: now });
    return now - since < ttlMs;
  }

  private look(node: string): Promise<ReadPage> {
    return this.reach(() => this.store.read(leaseStream(node), { direction: 'backwards', limit: 1 }));
  }

  private async reach<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } catch (error) {
      this.observations.clear();
      throw error;
    }
  }

  /** Gives the lease back, so that nobody has to watch it run out. */
  async release(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    await this.holding?.catch(() => undefined);
    await this.renewing?.catch(() => undefined);
    this.holding = undefined;
    if (this.renewedAt !== undefined) await this.append('LeaseReleased').catch((error: unknown) => this.warn(error));
    this.renewedAt = undefined;
    await this.trimming;
    await this.releasePresence?.();
    this.releasePresence = undefined;
  }

  private async takeUp(): Promise<void> {
    this.releasePresence = await this.presence?.announce(this.node);
    await this.renew();
    this.schedule();
  }

  private schedule(afterMs = this.options.ttlMs / 3): void {
    this.timer = setTimeout(() => void this.renewAgain(), afterMs);
    this.timer.unref();
  }

  private async renewAgain(): Promise<void> {
    let next: number | undefined;
    try {
      await this.renew();
      this.isFailing = false;
    } catch (error) {
      // Not fatal: `isValid` turns false by itself and no effect starts until a renewal succeeds.
      if (!this.isFailing) this.warn(error);
      this.isFailing = true;
      next = this.options.ttlMs * RETRY;
    }
    if (this.timer !== undefined) this.schedule(next);
  }

  /** One renewal at a time: two would race for the same revision. */
  private renew(): Promise<void> {
    this.renewing ??= this.append('LeaseRenewed').finally(() => {
      this.renewing = undefined;
    });
    return this.renewing;
  }

  private warn(error: unknown): void {
    this.logger.log('warn', 'The lease of this node could not be renewed.', { reason: reasonOf(error) });
  }

  private async append(type: LeaseFactType): Promise<void> {
    const stream = leaseStream(this.node);
    this.head ??= (await this.look(this.node)).head;
    const startedAt = performance.now();
    const payload = JSON.stringify({ incarnation: this.incarnation, ttlMs: this.options.ttlMs });
    const fact = { id: randomUUID(), type, payload, metadata: '{}' };
    const expected = this.head;
    const send = (): Promise<AppendResult> => this.reach(() => this.store.append(stream, [fact], { expected }));
    let outcome = await send();
    for (let tries = 1; outcome.status === 'ambiguous' && tries < TRIES; tries++) outcome = await send();
    if (outcome.status === 'ambiguous') this.observations.clear();
    if (outcome.status !== 'stored') {
      this.head = undefined;
      throw new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: `the lease stream answered ${outcome.status}` });
    }
    // Observers count from when they saw the renewal before this one, and until they see this one.
    const wasValid = this.isValid();
    this.renewedAt = startedAt;
    if (!wasValid) this.liveSince = performance.now();
    this.head = outcome.revision;
    this.trim(stream, outcome.revision);
  }

  /** Gives up the signs before the last one. Nobody waits for it: it may take longer than the lease lives. */
  private trim(stream: string, before: number): void {
    this.trimming ??= this.store
      .truncate(stream, before)
      .catch((error: unknown) => {
        if (isPerdureError(error, 'PERDURE_STORE_CLOSED')) return;
        this.logger.log('warn', 'The lease of this node could not be trimmed.', { reason: reasonOf(error) });
      })
      .finally(() => (this.trimming = undefined));
  }
}
