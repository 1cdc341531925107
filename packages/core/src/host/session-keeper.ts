import { setTimeout as delay } from 'node:timers/promises';
import { keyText, sessionKeyOf, type SessionKey } from '@perdure/events';
import { isPerdureError, reasonOf, type ProjectionStore } from '@perdure/plugin-api';
import { ProjectionRunner } from '../project/projection-runner.js';
import { runnable, type RunnableRow } from '../project/runnable.js';
import { expireDue } from '../session/interactions.js';
import type { RuntimeAgent } from './agent.js';
import { ErasureKeeper } from './erasure-keeper.js';
import type { HostServices } from './host-services.js';
import { openJournal } from './load-session.js';
import type { RegisteredHome } from './registered-home.js';

/**
 * Milliseconds that a change is left to the process that made it. Whoever answers goes on with the session itself when
 * it can; only then is it anybody's.
 */
const REACTION_MS = 250;
/** The longest time that a timer can be set for. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** Milliseconds before the store is followed again when that broke off. */
const RETRY_MS = 1_000;
/** The longest time, in milliseconds, between two tries with a session that cannot be looked after. */
const LONGEST_RETRY_MS = 30_000;
/** What another try from here cannot change: another node has it, or it lacks a part or a build here. */
const OTHERS = ['PERDURE_SESSION_OWNED', 'PERDURE_NOT_SUPPLIED', 'PERDURE_FACT_NEWER'] as const;

/** A session with open work that this process does not run. */
interface Orphan {
  readonly key: SessionKey;
  readonly agent: string;
  readonly owner: RunnableRow['owner'];
  /** When somebody may take it, on the monotonic clock. */
  readonly at: number;
  /** How often it could not be taken since its row changed. */
  readonly tries: number;
}

interface Deadline {
  readonly key: SessionKey;
  readonly agent: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
  /** How often it could not be answered since its row changed. */
  readonly tries: number;
}

/**
 * Looks after the sessions that no process has in memory, one for a runtime. It follows what happens in all sessions,
 * answers requests at their expiry, goes on with sessions that have work and no owner that lives, and has those told
 * who wait in this process for turns of sessions that are not loaded. It remembers the deadlines and the sessions that
 * others run, and nothing of any other.
 */
export class SessionKeeper {
  private readonly runner: ProjectionRunner<RunnableRow>;
  private readonly ending = new AbortController();
  /** Sessions of which something was stored, and when that was seen. */
  private touched = new Map<string, number>();
  private isAllTouched = false;
  private readonly deadlines = new Map<string, Deadline>();
  private readonly orphans = new Map<string, Orphan>();
  private readonly erasures: ErasureKeeper;
  private timer: NodeJS.Timeout | undefined;
  private wakeAt = Number.POSITIVE_INFINITY;
  private working: Promise<void> | undefined;
  private following: Promise<void> | undefined;

  constructor(
    private readonly services: HostServices,
    projections: ProjectionStore,
    private readonly agent: (id: string) => RuntimeAgent | undefined,
  ) {
    const { store, facts, logger } = services;
    this.runner = new ProjectionRunner(runnable, store, projections, facts, logger);
    this.erasures = new ErasureKeeper(agent, (...about) => this.report(...about));
  }

  /** Begins, or looks at all sessions again because there is another agent. */
  start(): void {
    if (this.following !== undefined) this.touchAll();
    this.following ??= this.follow();
  }

  async stop(): Promise<void> {
    this.ending.abort();
    clearTimeout(this.timer);
    await this.following;
    await this.working;
    await this.erasures.settle();
  }

  private async follow(): Promise<void> {
    const { signal } = this.ending;
    while (!signal.aborted) {
      try {
        const place = await this.runner.place();
        this.touchAll();
        const source = place === undefined ? { all: true as const } : { all: true as const, after: place };
        const options = { categories: ['session'], types: runnable.types, signal };
        for await (const { facts } of this.services.store.subscribe(source, options)) {
          for (const { stream } of facts) this.touched.set(stream, performance.now());
          if (facts.length > 0) this.wakeIn(REACTION_MS);
        }
      } catch (error) {
        if (!signal.aborted) this.report('The sessions that wait are not followed at the moment.', error);
      }
      if (!signal.aborted) await delay(RETRY_MS, undefined, { ref: false, signal }).catch(() => undefined);
    }
  }

  private touchAll(): void {
    this.isAllTouched = true;
    this.wakeIn(0);
  }

  private wakeIn(ms: number): void {
    const at = performance.now() + Math.min(ms, LONGEST_TIMER);
    if (at >= this.wakeAt || this.ending.signal.aborted) return;
    this.wakeAt = at;
    clearTimeout(this.timer);
    const wait = Math.max(0, at - performance.now());
    this.timer = setTimeout(() => {
      this.wakeAt = Number.POSITIVE_INFINITY;
      const before = this.working ?? Promise.resolve();
      this.working = before.then(() => this.work());
    }, wait).unref();
  }

  private async work(): Promise<void> {
    try {
      await this.look();
      await this.expireDue();
      await this.takeOrphans();
      const isOver = async (text: string): Promise<boolean> => !(await this.runner.readKeys([text])).has(text);
      const next = this.erasures.work(this.ending.signal, isOver);
      if (next !== undefined) this.wakeIn(next);
    } catch (error) {
      this.report('The sessions that wait could not be looked after.', error);
      this.isAllTouched = true;
      this.wakeIn(RETRY_MS);
    }
  }

  /** Takes in the rows that changed. */
  private async look(): Promise<void> {
    const { touched, isAllTouched } = this;
    this.touched = new Map();
    this.isAllTouched = false;
    const times = new Map<string, number>();
    for (const [stream, at] of touched) {
      const key = sessionKeyOf(stream);
      if (key !== undefined) times.set(keyText(key), at);
    }
    const rows = isAllTouched ? await this.runner.read() : await this.runner.readKeys(times.keys());
    for (const [text, row] of rows) this.note(text, row, times.get(text) ?? performance.now());
  }

  private note(text: string, row: RunnableRow, since: number): void {
    const { agent, owner, nextDeadline, openTurns, changes, runnableSince, leftBy } = row;
    const { node, incarnation } = this.services.lease;
    const key: SessionKey = row.tenant === null ? { id: row.session } : { tenant: row.tenant, id: row.session };
    const isThis = (other: typeof leftBy): boolean => other?.node === node && other.incarnation === incarnation;
    const isHere = isThis(owner);
    this.deadlines.delete(text);
    this.orphans.delete(text);
    this.erasures.note(text, key, row);
    // An owner answers for its own; another process is needed when that does not.
    const patience = owner === null ? 0 : REACTION_MS;
    if (nextDeadline !== null && !isHere) {
      this.deadlines.set(text, { key, agent, at: nextDeadline + patience, tries: 0 });
    }
    const here = agent === null ? undefined : this.agent(agent);
    if (agent === null || here === undefined) return;
    const home = here.home(key);
    // Loading it answers them.
    if (home?.awaited.some((turnId) => !openTurns.includes(turnId)) === true) this.wakeHome(home);
    const isOpen = openTurns.length > 0 || changes.length > 0;
    const needsSomeone = runnableSince !== null || owner !== null;
    if (!isOpen || !needsSomeone || isHere || isThis(leftBy)) return;
    this.orphans.set(text, { key, agent, owner, at: since + REACTION_MS, tries: 0 });
  }

  /** Answers what is due, as anyone may, and goes on with it. A session that cannot be read holds up no other. */
  private async expireDue(): Promise<void> {
    const { clock } = this.services.env;
    for (const [text, deadline] of this.deadlines) {
      const wait = deadline.at - clock.now();
      if (wait > 0) {
        this.wakeIn(wait);
        continue;
      }
      if (this.ending.signal.aborted) return;
      try {
        await this.expire(deadline);
        this.deadlines.delete(text);
      } catch (error) {
        const { key, tries } = deadline;
        if (tries === 0) this.report('A request could not be answered at its expiry.', error, { session: key.id });
        const pause = backOff(tries);
        this.deadlines.set(text, { ...deadline, at: clock.now() + pause, tries: tries + 1 });
        this.wakeIn(pause);
      }
    }
  }

  private async expire({ key, agent }: Deadline): Promise<void> {
    const { journal } = await openJournal(this.services, key);
    const { clock } = this.services.env;
    const hasExpired = await journal.commit((batch) => expireDue(batch, clock.now()), 'input');
    // Its row changed with that: where this fails, the session is an orphan.
    if (hasExpired && agent !== null) await this.take(key, agent, 0);
  }

  private async takeOrphans(): Promise<void> {
    for (const [text, orphan] of this.orphans) {
      const wait = orphan.at - performance.now();
      if (wait > 0) {
        this.wakeIn(wait);
        continue;
      }
      if (this.ending.signal.aborted) return;
      if (await this.isOwnerAlive(orphan)) {
        this.wakeIn(this.services.config.leaseTtlMs / 2);
        continue;
      }
      const { key, agent, tries } = orphan;
      if (await this.take(key, agent, tries)) {
        this.orphans.delete(text);
        continue;
      }
      const pause = backOff(tries);
      this.orphans.set(text, { ...orphan, at: performance.now() + pause, tries: tries + 1 });
      this.wakeIn(pause);
    }
  }

  private async isOwnerAlive({ owner }: Orphan): Promise<boolean> {
    return owner !== null && (await this.services.lease.isAlive(owner.node, owner.incarnation));
  }

  /**
   * Has the agent go on with a session. One that another process takes first, or that lacks a part here, is left.
   * `false` when another try is worth while.
   */
  private async take(key: SessionKey, agent: string, tries: number): Promise<boolean> {
    try {
      await this.agent(agent)?.keep(key);
      return true;
    } catch (error) {
      if (isPerdureError(error, 'PERDURE_SESSION_OWNED')) return true;
      // A handle of it is being closed here: behind that it can be taken.
      if (isPerdureError(error, 'PERDURE_SESSION_CLOSED')) return false;
      if (tries === 0) this.report('A session with work to do is left to others.', error, { session: key.id });
      return isPerdureError(error) && OTHERS.some((code) => code === error.code);
    }
  }

  private wakeHome(home: RegisteredHome): void {
    home
      .recall(() => undefined)
      .catch((error: unknown) => {
        this.report('The end of a turn could not be told.', error, { session: home.key.id });
      });
  }

  private report(message: string, error: unknown, data: Readonly<Record<string, string>> = {}): void {
    if (this.ending.signal.aborted) return;
    this.services.logger.log('warn', message, { ...data, reason: reasonOf(error) });
  }
}

/** Milliseconds until the next try behind so many that failed. */
function backOff(tries: number): number {
  return Math.min(LONGEST_RETRY_MS, REACTION_MS * 2 ** Math.min(tries, 16));
}
