import type { SessionKey } from '@perdure/events';
import { isPerdureError } from '@perdure/plugin-api';
import type { RunnableRow } from '../project/runnable.js';
import { backOff, REACTION_MS } from './back-off.js';
import type { KeeperGround } from './keeper-ground.js';
import type { PlacementDesk } from './placement-desk.js';

/** What another try from here cannot change at once: another node has it, or it lacks a part or a build here. */
const OTHERS = [
  'PERDURE_SESSION_OWNED',
  'PERDURE_NOT_SUPPLIED',
  'PERDURE_FACT_NEWER',
  'PERDURE_NODE_DRAINING',
] as const;

/** A session with open work that this process does not run. */
export interface Orphan {
  readonly key: SessionKey;
  readonly agent: string;
  readonly owner: RunnableRow['owner'];
  readonly leftBy: RunnableRow['leftBy'];
  /** When its row was seen, on the monotonic clock. */
  readonly since: number;
  /** When somebody may take it, on the monotonic clock. */
  readonly at: number;
  /** How often it could not be taken since its row changed. */
  readonly tries: number;
}

/** Sessions with work, whose owners are watched: they are gone on with here when nobody who lives has them. */
export class Orphans {
  private readonly open = new Map<string, Orphan>();

  constructor(
    private readonly ground: KeeperGround,
    private readonly desk: PlacementDesk,
  ) {}

  set(text: string, orphan: Omit<Orphan, 'at' | 'tries'>): void {
    this.open.set(text, { ...orphan, at: orphan.since + REACTION_MS, tries: 0 });
  }

  forget(text: string): void {
    this.open.delete(text);
  }

  async takeThose(): Promise<void> {
    const { services, signal, wakeIn } = this.ground;
    if (services.lease.isDraining) return;
    for (const [text, orphan] of this.open) {
      const wait = orphan.at - performance.now();
      if (wait > 0) {
        wakeIn(wait);
        continue;
      }
      if (signal.aborted) return;
      if (await this.isOwnerAlive(orphan)) {
        wakeIn(services.config.leaseTtlMs / 2);
        continue;
      }
      const { key, agent, tries } = orphan;
      if ((await this.desk.takes(orphan)) && (await this.take(key, agent, tries))) {
        // Facts that came meanwhile may have made it another's concern.
        if (this.open.get(text) === orphan) this.open.delete(text);
        continue;
      }
      const pause = backOff(tries);
      if (this.open.get(text) === orphan)
        this.open.set(text, { ...orphan, at: performance.now() + pause, tries: tries + 1 });
      wakeIn(pause);
    }
  }

  /**
   * Has the agent go on with a session. One that another process takes first, or that lacks a part here, is left.
   * `false` when another try is worth while.
   */
  async take(key: SessionKey, agent: string, tries = 0): Promise<boolean> {
    try {
      await this.ground.agents.get(agent)?.keep(key);
      return true;
    } catch (error) {
      if (isPerdureError(error, 'PERDURE_SESSION_OWNED')) return true;
      // A handle of it is being closed here: behind that it can be taken.
      if (isPerdureError(error, 'PERDURE_SESSION_CLOSED')) return false;
      if (tries === 0) {
        this.ground.report('A session with work to do is left to others.', error, { session: key.id });
      }
      return isPerdureError(error) && OTHERS.some((code) => code === error.code);
    }
  }

  private async isOwnerAlive({ owner }: Orphan): Promise<boolean> {
    return owner !== null && (await this.ground.services.lease.isAlive(owner.node, owner.incarnation));
  }
}
