import type { SessionKey } from '@perdure/events';
import { isPerdureError } from '@perdure/plugin-api';
import { sha256 } from '../host/sha256.js';
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

/** How many sessions are taken at one time. */
const AT_ONCE = 8;
/** How often in its time to live the lease of an owner is looked at, and so how soon its end is seen. */
const LOOKS = 4;

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
    if (this.ground.services.lease.isDraining) return;
    const due = this.dueNow();
    const owners = new Map<string, Promise<boolean>>();
    // A node that counts its turns takes one after the other.
    const atOnce = this.desk.isCounting ? 1 : AT_ONCE;
    const takeNext = async (): Promise<void> => {
      for (let next = due.shift(); next !== undefined; next = due.shift()) {
        if (this.ground.signal.aborted) return;
        await this.consider(...next, owners);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, takeNext));
  }

  /** What may be taken by now, in another order on each node: those of a dead node are everybody's at the same time. */
  private dueNow(): [string, Orphan][] {
    const { services, wakeIn } = this.ground;
    const due = Array.from(this.open).filter(([, { at }]) => {
      const wait = at - performance.now();
      if (wait > 0) wakeIn(wait);
      return wait <= 0;
    });
    const rank = new Map(due.map(([text]) => [text, sha256(`${services.lease.node} ${text}`)]));
    const rankOf = (text: string): string => rank.get(text) ?? '';
    return due.sort(([one], [other]) => (rankOf(one) < rankOf(other) ? -1 : 1));
  }

  private async consider(text: string, orphan: Orphan, owners: Map<string, Promise<boolean>>): Promise<void> {
    const { services, wakeIn } = this.ground;
    if (await this.isOwnerAlive(orphan, owners)) return wakeIn(services.config.leaseTtlMs / LOOKS);
    const { key, agent, tries } = orphan;
    const decision = await this.desk.decide(orphan);
    // The desk wakes the keeper when it knows more.
    if (decision === 'asked') return;
    if (decision === 'take' && (await this.take(key, agent, tries))) {
      // Facts that came meanwhile may have made it another's concern.
      if (this.open.get(text) === orphan) this.open.delete(text);
      return;
    }
    const pause = backOff(tries);
    if (this.open.get(text) === orphan)
      this.open.set(text, { ...orphan, at: performance.now() + pause, tries: tries + 1 });
    wakeIn(pause);
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

  /** One look at the lease of a node is enough for all the sessions that it has. */
  private isOwnerAlive({ owner }: Orphan, owners: Map<string, Promise<boolean>>): Promise<boolean> {
    if (owner === null) return Promise.resolve(false);
    const { node, incarnation } = owner;
    const name = `${node} ${incarnation}`;
    const look = owners.get(name) ?? this.ground.services.lease.isAlive(node, incarnation);
    owners.set(name, look);
    return look;
  }
}
