import type { Placement, PlacementAnswer } from '@perdure/plugin-api';
import { PerdureError } from '@perdure/plugin-api';
import type { KeeperGround } from './keeper-ground.js';
import type { Orphan } from './orphans.js';

/** Decides whether this node takes a session that nobody has, by what the host said of placement. */
export class PlacementDesk {
  constructor(
    private readonly ground: KeeperGround,
    private readonly placement: Placement,
  ) {}

  /** Whether what is under way here says what else is taken. */
  get isCounting(): boolean {
    return this.placement.capacity !== undefined;
  }

  /** Whether the session is to be taken here and now. */
  async takes(orphan: Orphan): Promise<boolean> {
    const { capacity, onRunnable } = this.placement;
    if (capacity !== undefined && this.atWork() >= capacity) return false;
    if (onRunnable === undefined) return true;
    const { key, agent, owner, leftBy, tries } = orphan;
    try {
      const answer = await onRunnable({
        sessionId: key.id,
        tenantId: key.tenant ?? null,
        agentId: agent,
        lastNode: (owner ?? leftBy)?.node ?? null,
        offers: tries,
      });
      return await this.follow(answer, orphan);
    } catch (error) {
      if (tries === 0) this.ground.report('The placement of a session failed.', error, { session: key.id });
      return false;
    }
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
