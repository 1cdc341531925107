import { setTimeout as delay } from 'node:timers/promises';
import { keyText, sessionKeyOf, type SessionKey } from '@perdure/events';
import { isPerdureError, reasonOf, type ProjectionStore } from '@perdure/plugin-api';
import { ProjectionRunner } from '../project/projection-runner.js';
import { runnable, type RunnableRow } from '../project/runnable.js';
import { expireDue } from '../session/interactions.js';
import type { RuntimeAgent } from './agent.js';
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

/** A session with open work that this process does not run. */
interface Orphan {
  readonly key: SessionKey;
  readonly agent: string;
  readonly owner: RunnableRow['owner'];
  /** When its row was last seen to change, on the monotonic clock. */
  readonly since: number;
}

interface Deadline {
  readonly key: SessionKey;
  readonly agent: string | null;
  /** Epoch milliseconds. */
  readonly at: number;
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
    const isHere = owner?.node === node && owner.incarnation === incarnation;
    this.deadlines.delete(text);
    this.orphans.delete(text);
    // An owner answers for its own; another process is needed when that does not.
    const patience = owner === null ? 0 : REACTION_MS;
    if (nextDeadline !== null && !isHere) this.deadlines.set(text, { key, agent, at: nextDeadline + patience });
    const here = agent === null ? undefined : this.agent(agent);
    if (agent === null || here === undefined) return;
    const home = here.home(key);
    // Loading it answers them.
    if (home?.awaited.some((turnId) => !openTurns.includes(turnId)) === true) this.wakeHome(home);
    const isOpen = openTurns.length > 0 || changes.length > 0;
    const needsSomeone = runnableSince !== null || owner !== null;
    if (isOpen && needsSomeone && !isHere && leftBy !== node) this.orphans.set(text, { key, agent, owner, since });
  }

  /** Answers what is due, as anyone may, and goes on with it. */
  private async expireDue(): Promise<void> {
    const { env } = this.services;
    for (const [text, { key, agent, at }] of this.deadlines) {
      const wait = at - env.clock.now();
      if (wait > 0) {
        this.wakeIn(wait);
        continue;
      }
      if (this.ending.signal.aborted) return;
      this.deadlines.delete(text);
      const { journal } = await openJournal(this.services, key);
      const hasExpired = await journal.commit((batch) => expireDue(batch, env.clock.now()), 'input');
      if (hasExpired && agent !== null) await this.take(key, agent);
    }
  }

  private async takeOrphans(): Promise<void> {
    const { lease, config } = this.services;
    for (const [text, { key, agent, owner, since }] of this.orphans) {
      const wait = since + REACTION_MS - performance.now();
      if (wait > 0) {
        this.wakeIn(wait);
        continue;
      }
      if (this.ending.signal.aborted) return;
      if (owner !== null && (await lease.isAlive(owner.node, owner.incarnation))) {
        this.wakeIn(config.leaseTtlMs / 2);
        continue;
      }
      this.orphans.delete(text);
      await this.take(key, agent);
    }
  }

  /** Has the agent go on with a session. One that another process takes first, or that lacks a part here, is left. */
  private async take(key: SessionKey, agent: string): Promise<void> {
    try {
      await this.agent(agent)?.keep(key);
    } catch (error) {
      if (isPerdureError(error, 'PERDURE_SESSION_CLOSED')) return;
      this.report('A session with work to do is left to others.', error, { session: key.id });
    }
  }

  private wakeHome(home: RegisteredHome): void {
    home.recall().catch((error: unknown) => {
      this.report('The end of a turn could not be told.', error, { session: home.key.id });
    });
  }

  private report(message: string, error: unknown, data: Readonly<Record<string, string>> = {}): void {
    if (this.ending.signal.aborted) return;
    this.services.logger.log('warn', message, { ...data, reason: reasonOf(error) });
  }
}
