import type { ActivePlugin, Labels, SessionKey } from '@perdure/events';
import { reasonOf, type SessionRetentionLimits, type SessionScope } from '@perdure/plugin-api';
import type { LoadedSession } from '../session/loaded-session.js';
import { leaveNode, type Leaving } from '../session/leave-node.js';
import { closedError } from '../session/refuse-erased.js';
import type { SessionHome } from '../session/session-home.js';
import { currentTurn } from '../session/session-state.js';
import { TurnWaiters } from '../session/turn-waiters.js';
import type { SessionConfig } from './session-options.js';
import type { AgentView } from './agent-view.js';
import { FailurePause } from './failure-pause.js';
import { giveBack, giveBackWhenThere } from './give-back.js';
import { GraceTimer } from './grace-timer.js';
import { HomeAgent } from './home-agent.js';
import type { HomeGround } from './home-ground.js';
import type { HostServices } from './host-services.js';
import { KnownSession } from './known-session.js';
import { openSession } from './load-session.js';
import { restGrace } from './rest-grace.js';
import { warnOfIdleLimits } from './retention.js';
import { SessionAdditions } from './session-additions.js';
import { releaseSessionTools } from './session-tools.js';
import { VariableValues } from './variable-values.js';

/**
 * The place of one session in this process. The session itself is there while it is used, watched, or has something to
 * do; when it is idle or only waits for people it is released after a grace and leaves memory: this object stays.
 */
export class RegisteredHome implements SessionHome {
  readonly additions: SessionAdditions;
  readonly agents: HomeAgent;
  private readonly waiters: TurnWaiters;
  private loading: Promise<LoadedSession> | undefined;
  private readonly known: KnownSession;
  private closing: Promise<void> | undefined;
  /** The session leaving this node; it may be opened here again behind that. */
  private leaving: Promise<void> | undefined;
  private holds = 0;
  private readonly resting = new GraceTimer();
  /** Somebody has a handle of the session. */
  isAsked = false;
  /** The session is loaded because it had work, and goes when that is done. */
  private isKept = false;
  private isErased = false;
  /** For how long the runtime leaves the session to others because it failed here. */
  private readonly pause = new FailurePause();
  private limits: SessionRetentionLimits;

  constructor(
    private readonly ground: HomeGround,
    private readonly config: SessionConfig,
    private readonly onGone: () => void,
  ) {
    const { config: options, waited } = ground.services;
    this.limits = ground.retention;
    this.known = new KnownSession(config);
    const values = new VariableValues(ground.services, () => ground.env(this.known.workspace));
    this.additions = new SessionAdditions(values);
    this.agents = new HomeAgent(ground, config, this.additions, () => this.known.state);
    this.waiters = new TurnWaiters(options.leaseTtlMs / 2, (difference) => waited.add(difference));
  }

  get key(): SessionKey {
    return this.config.key;
  }
  get agentId(): string {
    return this.ground.agentId;
  }
  get logger(): HostServices['logger'] {
    return this.ground.services.logger;
  }
  get snapshots(): HostServices['snapshots'] {
    return this.ground.services.snapshots;
  }
  get prices(): SessionHome['prices'] {
    return this.ground.services.config.prices;
  }
  get runIds(): HostServices['runIds'] {
    return this.ground.services.runIds;
  }

  /** The agent with the plugins that the session has, and what is the session's own. */
  agent(): AgentView {
    return this.agents.current();
  }

  scope(): SessionScope {
    return this.agents.scope();
  }

  /** Whether the session is in memory, or on its way there. */
  get isLoaded(): boolean {
    return this.loading !== undefined && this.closing === undefined;
  }

  retention(): SessionRetentionLimits {
    return this.limits;
  }

  /** Sets the limits that are named; others stay. */
  retain(limits: SessionRetentionLimits): void {
    warnOfIdleLimits(limits, this.key.id, this.logger);
    this.limits = { ...this.limits, ...limits };
  }

  /** Turns whose end somebody waits for while the session is not in memory. */
  get awaited(): readonly string[] {
    return this.loading === undefined ? this.waiters.turns : [];
  }

  labels(): Labels {
    return this.known.labels;
  }

  /** Somebody is given a handle of the session: the place stays until that is closed. */
  ask(): void {
    this.isAsked = true;
  }

  async use<Result>(work: (loaded: LoadedSession) => Result | Promise<Result>): Promise<Result> {
    const { loaded, release } = this.hold();
    try {
      return await work(await loaded);
    } finally {
      release();
    }
  }

  hold(): { readonly loaded: Promise<LoadedSession>; readonly release: () => void } {
    this.isKept = false;
    return this.enter();
  }

  /** Goes on with a session that has work and no owner. Resolves when its work has begun, rejects when it cannot be. */
  async keep(): Promise<void> {
    this.pause.check();
    await this.recall(async (loaded) => {
      await loaded.work.journal.refresh();
      await loaded.run({ insist: true });
    });
  }

  /** Loads the session for the runtime's own sake; it goes again when nothing is left to do. */
  async recall<Result = void>(work: (loaded: LoadedSession) => Promise<Result> | Result): Promise<Result> {
    if (this.loading === undefined) this.isKept = true;
    const { loaded, release } = this.enter();
    try {
      return await work(await loaded);
    } finally {
      release();
    }
  }

  /** Whether this node has the session and something of it to do, begun or not. */
  get isAtWork(): boolean {
    return this.known.isAtWork(this.ground.services.env.clock.now());
  }

  /**
   * Has the session leave this node at the end of its step, or at the deadline. What it was doing then; `undefined`
   * when this node does not have it. Handles stay, and follow it to another node.
   */
  async vacate(reason: string, deadlineMs: number): Promise<Leaving | undefined> {
    const loaded = await this.loading?.catch(() => undefined);
    const outcome = loaded?.isOwner === true ? await leaveNode(loaded, reason, deadlineMs) : undefined;
    await this.leaving;
    return outcome;
  }

  /** Leaves memory now if the session is here for the runtime's own sake alone and has nothing left to do. */
  restNow(): void {
    this.rest().catch((error: unknown) => this.report(error));
  }

  /** Safe to repeat; resolves when nothing of the session is left in this process. */
  close(reason: 'closed' | 'passivated', isErased = false): Promise<void> {
    this.isErased ||= isErased;
    this.closing ??= this.letGo(reason).finally(() => this.gone());
    return this.closing;
  }

  private enter(): { readonly loaded: Promise<LoadedSession>; readonly release: () => void } {
    this.holds += 1;
    // The grace of an idle session begins with its last use.
    const { fold } = this.known;
    if (fold !== undefined && currentTurn(fold) === undefined) this.resting.stop();
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      this.holds -= 1;
      this.look();
    };
    return { loaded: this.load(), release };
  }

  private load(): Promise<LoadedSession> {
    if (this.closing !== undefined) return Promise.reject(closedError(this.key.id, this.isErased));
    this.loading ??= this.open().catch((error: unknown) => {
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }

  private async open(): Promise<LoadedSession> {
    const { services, agentId, children } = this.ground;
    await this.leaving;
    await services.opening.enter();
    const { variables } = this.additions;
    const view = (plugins: readonly ActivePlugin[] | undefined): AgentView => this.agents.with(plugins);
    const loaded = await openSession(services, agentId, this.config, view, variables, this.waiters, children);
    this.known.enter(loaded);
    void loaded.besideTurns.passivation.due.then(() => this.passivate(loaded));
    loaded.work.journal.onCommit(() => this.look());
    loaded.over.addEventListener('abort', () => this.drop(loaded), { once: true });
    return loaded;
  }

  /** A session that failed leaves memory, and this node gives it back; its next use here loads it again. */
  private drop(loaded: LoadedSession): void {
    const { failure: error } = loaded;
    if (error === undefined || this.known.loaded !== loaded || this.closing !== undefined) return;
    this.pause.begin(error);
    this.leave(loaded, async () => {
      await loaded.unload();
      const isUsed = () => (this.loading ?? this.closing) !== undefined;
      await giveBackWhenThere(this.ground.services, this.key, loaded.lost, isUsed);
    });
  }

  /** The session leaves this node, and the handle stays: its next use opens the session again. */
  private passivate(loaded: LoadedSession): void {
    if (this.known.loaded !== loaded || this.closing !== undefined) return;
    this.leave(loaded, () => loaded.close(0, 'passivated'));
  }

  /** After how long the session leaves; `undefined` while somebody in this process uses or watches it, or it works. */
  private grace(): number | undefined {
    const { loaded } = this.known;
    if (loaded === undefined || this.holds > 0 || this.closing !== undefined) return undefined;
    if (loaded.failure !== undefined || loaded.besideTurns.titles.isAsking) return undefined;
    const { config, env } = this.ground.services;
    return restGrace(loaded, config, this.isKept, env.clock.now());
  }

  private look(): void {
    const { config, projections } = this.ground.services;
    if (!config.keepsSessions || projections === undefined) return;
    const grace = this.grace();
    if (grace === undefined) this.resting.stop();
    else this.resting.begin(grace, () => this.restNow());
  }

  private async rest(): Promise<void> {
    const { loaded } = this.known;
    if (loaded === undefined || this.grace() === undefined || !(await loaded.release('passivated'))) return;
    // Who came meanwhile uses it as one that belongs to nobody.
    if (this.known.loaded !== loaded || this.grace() === undefined) return;
    this.leave(loaded, () => loaded.unload());
    this.known.rests = true;
    if (!this.isAsked) await this.gone();
  }

  /** Nothing of the session is left here, nor what others kept for it. */
  private async gone(): Promise<void> {
    await releaseSessionTools(this.ground.view(undefined).parts, this.scope(), this.logger);
    this.onGone();
  }

  private leave(loaded: LoadedSession, end: () => Promise<void>): void {
    this.known.leave(loaded);
    this.loading = undefined;
    const leaving = end()
      .catch((error: unknown) => this.report(error))
      .finally(() => {
        if (this.leaving === leaving) this.leaving = undefined;
      });
    this.leaving = leaving;
  }

  private report(error: unknown): void {
    this.logger.log('warn', 'A session could not be let go.', { session: this.key.id, reason: reasonOf(error) });
  }

  private async letGo(reason: 'closed' | 'passivated'): Promise<void> {
    this.resting.stop();
    await this.leaving;
    // Hooks are told of the end of one that rests as of one that is here.
    const wakes = this.known.rests && this.isAsked && !this.isErased && this.agent().hasHooks;
    const loaded = await (this.loading ?? (wakes ? this.open() : undefined))?.catch(() => undefined);
    await loaded?.close(this.ground.services.config.closeGraceMs, reason, this.isErased);
    if (loaded !== undefined)
      await giveBack(this.ground.services, this.key, loaded.lost).catch((error: unknown) => this.report(error));
    this.waiters.suspend(closedError(this.key.id, this.isErased));
  }
}
