import { setTimeout as delay } from 'node:timers/promises';
import { keyText, sessionKeyOf, sessionStream, type SessionKey } from '@perdure/events';
import { reasonOf, type ProjectionStore } from '@perdure/plugin-api';
import type { HostServices } from '../host/host-services.js';
import type { RegisteredHome } from '../host/registered-home.js';
import { ProjectionRunner } from '../project/projection-runner.js';
import { runnable, type RunnableRow } from '../project/runnable.js';
import { REACTION_MS } from './back-off.js';
import { Deadlines } from './deadlines.js';
import { ErasureKeeper } from './erasure-keeper.js';
import type { KeeperGround } from './keeper-ground.js';
import { Orphans } from './orphans.js';
import { PlacementDesk } from './placement-desk.js';

/** The longest time that a timer can be set for. */
const LONGEST_TIMER = 2 ** 31 - 1;
/** Milliseconds before the store is followed again when that broke off. */
const RETRY_MS = 1_000;

/**
 * Looks after the sessions that no process has in memory, one for a runtime. It follows what happens in all sessions,
 * answers requests at their expiry, goes on with sessions that have work and no owner that lives, and has those told
 * who wait in this process for turns of sessions that are not loaded. It remembers the deadlines and the sessions that
 * others run, and nothing of any other.
 */
export class SessionKeeper {
  private readonly runner: ProjectionRunner<RunnableRow>;
  private readonly ending = new AbortController();
  private readonly deadlines: Deadlines;
  private readonly orphans: Orphans;
  private readonly erasures: ErasureKeeper;
  /** Sessions of which something was stored, and when that was seen. */
  private touched = new Map<string, number>();
  private isAllTouched = false;
  private timer: NodeJS.Timeout | undefined;
  private wakeAt = Number.POSITIVE_INFINITY;
  private working: Promise<void> | undefined;
  private following: Promise<void> | undefined;
  private heeding: Promise<void> | undefined;

  constructor(
    private readonly services: HostServices,
    projections: ProjectionStore,
    private readonly agents: KeeperGround['agents'],
  ) {
    const { store, facts, logger, config } = services;
    this.runner = new ProjectionRunner(runnable, store, projections, facts, logger);
    this.erasures = new ErasureKeeper(agents, (...about) => this.report(...about));
    const ground: KeeperGround = {
      services,
      agents,
      wakeIn: (ms) => this.wakeIn(ms),
      signal: this.ending.signal,
      report: (message, error, data) => this.report(message, error, data),
    };
    const orphans = new Orphans(ground, new PlacementDesk(ground, config.placement));
    this.orphans = orphans;
    this.deadlines = new Deadlines(ground, (key, agent) => orphans.take(key, agent));
  }

  /** Begins, or looks at all sessions again because there is another agent. */
  start(): void {
    if (this.following !== undefined) this.touchAll();
    this.following ??= this.follow();
    this.heeding ??= this.heedFailures();
  }

  async stop(): Promise<void> {
    this.ending.abort();
    clearTimeout(this.timer);
    await this.following;
    this.services.failed.wake();
    await this.heeding;
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

  /** Whose a session is that failed here says only the stream, of which nothing need come any more. */
  private async heedFailures(): Promise<void> {
    const { failed } = this.services;
    while (!this.ending.signal.aborted) {
      const next = failed.next();
      for (const key of failed.take()) this.touched.set(sessionStream(key), performance.now());
      if (this.touched.size > 0) this.wakeIn(REACTION_MS);
      await next;
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
      await this.deadlines.answerDue();
      await this.orphans.takeThose();
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
    const here = agent === null ? undefined : this.agents.get(agent);
    const home = here?.home(key);
    // A session that failed here may belong to this process, and nobody in it knows: then it is gone on with.
    const isLost = here !== undefined && home?.isLoaded !== true && row.erasing === null;
    const isHere = isThis(owner) && !isLost;
    this.deadlines.forget(text);
    this.orphans.forget(text);
    this.erasures.note(text, key, row);
    // An owner answers for its own; another process is needed when that does not.
    const patience = owner === null ? 0 : REACTION_MS;
    if (nextDeadline !== null && !isHere) this.deadlines.set(text, { key, agent, at: nextDeadline + patience });
    if (agent === null || here === undefined) return;
    // Loading it answers them.
    if (home?.awaited.some((turnId) => !openTurns.includes(turnId)) === true) this.wakeHome(home);
    const isOpen = openTurns.length > 0 || changes.length > 0;
    const needsSomeone = runnableSince !== null || owner !== null;
    if (!isOpen || !needsSomeone || isHere || isThis(leftBy)) return;
    this.orphans.set(text, { key, agent, owner, leftBy, since });
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
