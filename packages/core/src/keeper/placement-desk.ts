import { setTimeout as delay } from 'node:timers/promises';
import { PerdureError, type Placement, type PlacementAnswer } from '@perdure/plugin-api';
import { withTimeout } from '../invoke/with-timeout.js';
import { REACTION_MS } from './back-off.js';
import type { KeeperGround } from './keeper-ground.js';
import type { Orphan } from './orphans.js';

/** Whether a session is to be taken here; `asked` while the host has not answered. */
export type PlacementDecision = 'take' | 'leave' | 'asked';

/** What the host answered about a session, `undefined` until then. */
interface Inquiry {
  answer: { readonly given: PlacementAnswer } | 'failed' | undefined;
}

/** Decides whether this node takes a session that nobody has, by what the host said of placement. */
export class PlacementDesk {
  /** What the host was asked and has not been followed in. An orphan that changed is another one. */
  private readonly inquiries = new WeakMap<Orphan, Inquiry>();

  constructor(
    private readonly ground: KeeperGround,
    private readonly placement: Placement,
  ) {}

  /** Whether what is under way here says what else is taken. */
  get isCounting(): boolean {
    return this.placement.capacity !== undefined;
  }

  /**
   * Whether the session is to be taken here and now. Others do not wait for a host that thinks for long: its session is
   * `asked`, and is to be brought again, the same, when the keeper is woken for it.
   */
  async decide(orphan: Orphan): Promise<PlacementDecision> {
    const { capacity, onRunnable } = this.placement;
    if (capacity !== undefined && this.atWork() >= capacity) return 'leave';
    if (onRunnable === undefined) return 'take';
    const inquiry = this.inquiries.get(orphan) ?? (await this.ask(orphan, onRunnable));
    if (inquiry.answer === undefined) return 'asked';
    this.inquiries.delete(orphan);
    if (inquiry.answer === 'failed') return 'leave';
    try {
      const isTaken = await this.follow(inquiry.answer.given, orphan);
      // Others may have been taken while the host thought.
      return isTaken && (capacity === undefined || this.atWork() < capacity) ? 'take' : 'leave';
    } catch (error) {
      this.tell(orphan, error);
      return 'leave';
    }
  }

  /** Asks the host, and waits a moment for its answer. What comes later wakes the keeper. */
  private async ask(orphan: Orphan, onRunnable: NonNullable<Placement['onRunnable']>): Promise<Inquiry> {
    const { services, signal, wakeIn } = this.ground;
    const { key, agent, owner, leftBy, tries } = orphan;
    const session = {
      sessionId: key.id,
      tenantId: key.tenant ?? null,
      agentId: agent,
      lastNode: (owner ?? leftBy)?.node ?? null,
      offers: tries,
    };
    const inquiry: Inquiry = { answer: undefined };
    this.inquiries.set(orphan, inquiry);
    const answered = withTimeout(services.config.pluginTimeoutMs, signal, async () => onRunnable(session)).then(
      (given) => {
        inquiry.answer = { given };
      },
      (error: unknown) => {
        inquiry.answer = 'failed';
        this.tell(orphan, error);
      },
    );
    const moment = new AbortController();
    await Promise.race([answered, delay(REACTION_MS, undefined, { signal: moment.signal }).catch(() => undefined)]);
    moment.abort();
    if (inquiry.answer === undefined) void answered.then(() => wakeIn(0));
    return inquiry;
  }

  private tell({ key, tries }: Orphan, error: unknown): void {
    if (tries === 0) this.ground.report('The placement of a session failed.', error, { session: key.id });
  }

  private async follow(answer: PlacementAnswer, { since }: Orphan): Promise<boolean> {
    if (answer === 'take') return true;
    if (answer === 'leave') return false;
    const node: unknown = typeof answer === 'object' && answer !== null ? answer.preferredNode : undefined;
    if (typeof node !== 'string' || node === '') {
      const reason = 'it answers "take", "leave" or { preferredNode }';
      throw new PerdureError('PERDURE_CONFIGURATION', { field: 'placement.onRunnable', reason });
    }
    const { lease, config } = this.ground.services;
    if (node === lease.node) return true;
    const { preferenceMs = 2 * config.leaseTtlMs } = this.placement;
    return performance.now() - since >= preferenceMs || !(await lease.isNodeAlive(node));
  }

  /** Sessions that this node has and has something to do for, taken a moment ago or long since. */
  private atWork(): number {
    let count = 0;
    for (const agent of this.ground.agents.values()) count += agent.sessionsAtWork;
    return count;
  }
}
