import { keyText, type EventEnvelopeV1, type JsonValue, type SystemBlock } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import type * as api from '@perdure/plugin-api';
import { takeSnapshot } from '../exchange/take-snapshot.js';
import { beginning, parseCursor } from '../live/cursor.js';
import { readEvents } from '../live/event-reader.js';
import { generateObject } from '../objects/generate-object.js';
import { checkObjectRequest } from '../objects/object-request.js';
import { hostCall } from '../turn/host-call.js';
import { allInteractions, respondInTree } from '../children/child-interactions.js';
import { parallel } from '../children/parallel.js';
import { stopChildren } from '../children/stop-children.js';
import { listCommands } from '../commands/command-list.js';
import { RunRecords } from '../runs/run-records.js';
import { stopEverything } from './accept-input.js';
import { changeHandle } from './change-handle.js';
import { Conversation } from './conversation.js';
import { addEvent, checkClusterEvent } from './emit-event.js';
import { eventSource } from './event-source.js';
import { listenTo } from './listen.js';
import type { LoadedSession } from './loaded-session.js';
import { refuseArchived } from './refuse-archived.js';
import { refuseGone } from './refuse-erased.js';
import type { SessionHome } from './session-home.js';
import {
  checkCall,
  checkChanges,
  checkEventsOptions,
  checkListener,
  checkOptions,
  checkReason,
  checkResumeOptions,
  checkText,
  checkMutationOptions,
} from './session-input.js';
import { sessionMcp } from './session-mcp.js';
import { messagePage, sessionInfo } from './session-views.js';
import { turnHandle } from './turn-handle.js';
import { viewAt } from './view-at.js';

/** The public handle of a session. It holds no state of the conversation; its home loads that with the first use. */
export class DurableSession implements api.Session {
  private readonly conversation: Conversation;
  private readonly records: RunRecords;
  readonly mcp: api.SessionMcp;

  constructor(private readonly home: SessionHome) {
    this.conversation = new Conversation(home);
    this.records = new RunRecords(home);
    this.mcp = sessionMcp(home);
  }

  get id(): string {
    return this.home.key.id;
  }
  get agentId(): string {
    return this.home.agentId;
  }
  get tenantId(): string | null {
    return this.home.labels().tenantId ?? null;
  }
  get principal(): string | null {
    return this.home.labels().principal ?? null;
  }
  get agentTemplateId(): string | null {
    return this.home.labels().agentTemplateId ?? null;
  }
  get correlationId(): string | null {
    return this.home.labels().correlationId ?? null;
  }

  prompt(input: api.PromptLike): Promise<api.TurnHandle> {
    return this.conversation.prompt(input);
  }

  send(input: api.PromptLike): Promise<api.TurnResult> {
    return this.conversation.send(input);
  }

  stream(input: api.PromptLike): api.TurnStream {
    return this.conversation.stream(input);
  }

  resumeRun(runId: string, options?: api.ResumeOptions): Promise<api.TurnResult> {
    return this.conversation.resumeRun(runId, options);
  }

  async resume(options?: api.ResumeOptions): Promise<api.TurnHandle | null> {
    const checked = checkResumeOptions(options);
    return this.home.use(async (loaded) => {
      await loaded.work.journal.refresh();
      refuseArchived(loaded.work.journal.state, this.id);
      const turn = loaded.work.journal.state.open[0];
      await loaded.run({ ...checked, insist: true });
      if (turn === undefined) return null;
      const { turnId, prompts } = turn;
      const accepted = { promptId: prompts[0]?.promptId ?? '', turnId, isKnown: true };
      return turnHandle(this.home, accepted, loaded.finished(turnId));
    });
  }

  async stop(reason?: string): Promise<api.StopResult> {
    checkReason(reason);
    return this.home.use(async (loaded) => {
      const turnId = await stopEverything(loaded.work.journal, reason);
      await stopChildren(loaded.work, loaded.work.journal.state.children, reason);
      // Nobody may have the session, when it waited for people.
      if (turnId !== undefined) await loaded.runIfSupplied();
      return { stopped: turnId !== undefined, turnId: turnId ?? null };
    });
  }

  runs(): Promise<readonly api.RunSnapshot[]> {
    return this.records.list();
  }
  runSnapshot(runId: string): Promise<api.RunSnapshot | null> {
    return this.records.snapshot(runId);
  }
  runEvents(runId: string): Promise<readonly api.RunEvent[]> {
    return this.records.events(runId);
  }
  runEventPage(runId: string, options?: api.RunEventPageOptions): Promise<api.RunEventPage | null> {
    return this.records.eventPage(runId, options);
  }
  currentRun(): Promise<api.RunSnapshot | null> {
    return this.records.current();
  }
  activeTools(): Promise<readonly api.ActiveTool[]> {
    return this.records.activeTools();
  }
  cancelRun(runId: string): Promise<boolean> {
    return this.records.cancel(runId);
  }
  cancelAndSettle(options?: api.SettleOptions): Promise<api.Settlement> {
    return this.records.cancelAndSettle(options);
  }

  async *events(options?: api.EventsOptions): AsyncGenerator<EventEnvelopeV1, void, undefined> {
    const { from: cursor, signal } = checkEventsOptions(options);
    const held = this.home.hold();
    try {
      const loaded = await held.loaded;
      const { journal } = loaded.work;
      loaded.follow();
      if (cursor !== undefined) await journal.refresh();
      const from = cursor === undefined ? beginning : parseCursor(cursor, this.id, journal.head);
      yield* readEvents(eventSource(loaded), from, { signal, over: loaded.over });
    } finally {
      held.release();
    }
  }

  subscribe(listener: (mutation: api.Mutation) => unknown, options?: api.MutationOptions): () => void {
    return listenTo(this.home, checkListener(listener), checkMutationOptions(options));
  }

  async info(): Promise<api.SessionInfo> {
    return this.upToDate(({ work }) => sessionInfo(work.journal));
  }

  async at(revision: number): Promise<api.SessionView> {
    return this.upToDate(({ work }) => viewAt(revision, work.journal, work.store));
  }

  async messages(options?: api.MessagesOptions): Promise<api.MessagePage> {
    const checked = checkOptions(options);
    return this.upToDate(({ work }) => messagePage(work.journal, checked));
  }

  async artifact(digest: string, range?: api.ByteRange): Promise<Uint8Array | null> {
    checkText('digest', digest);
    return this.upToDate(async ({ work }) => (await work.files.read(digest, range)) ?? null);
  }

  async system(): Promise<readonly SystemBlock[]> {
    return this.upToDate(({ work }) => work.composer.system(work.journal.state, work.agent()).blocks);
  }

  snapshot(): Promise<api.ChangeHandle> {
    return changeHandle(this.home, { kind: 'system', action: 'freeze' });
  }

  syncshot(): Promise<api.ChangeHandle> {
    return changeHandle(this.home, { kind: 'system', action: 'refresh' });
  }

  async set(change: api.SessionChange): Promise<api.ChangeHandle> {
    const { variables } = this.home.additions;
    return changeHandle(this.home, ...checkChanges(change, (env) => variables.change(env)));
  }

  compact(): Promise<api.ChangeHandle> {
    return changeHandle(this.home, { kind: 'compact' });
  }

  async save(): Promise<void> {
    const { snapshots } = this.home;
    if (snapshots === undefined) return;
    if (!snapshots.atomic) throw new PerdureError('PERDURE_SNAPSHOT_UNSUPPORTED', { store: snapshots.name });
    await this.upToDate(async ({ work: { key, journal, store } }) => {
      const { state, head: revision, hash, time, registry: facts } = journal;
      const snapshot = await takeSnapshot({ store, facts }, key, { state, revision, hash, time });
      await snapshots.save(keyText(key), snapshot);
    });
  }

  registerHook<Event extends api.HookEvent>(
    id: string,
    event: Event,
    matcher?: api.HookMatcher | null,
    config?: api.HookConfig | null,
    handler?: api.HookHandler<Event> | null,
  ): void {
    this.home.additions.registerHook(id, event, matcher, config, handler);
  }

  unregisterHook(id: string): boolean {
    return this.home.additions.unregisterHook(id);
  }

  hookCount(): number {
    return this.home.additions.hookCount;
  }

  setBudgetGuard(guard: api.BudgetGuard | null): void {
    this.home.additions.setBudgetGuard(guard);
  }

  registerCommand(name: string, description: string, handler: api.CommandHandler, timeoutMs?: number): void {
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    this.home.additions.registerCommand({ name, description, handler, ...limit });
  }

  unregisterCommand(name: string): boolean {
    return this.home.additions.unregisterCommand(name);
  }

  listCommands(): readonly api.CommandInfo[] {
    return listCommands(this.home.agent(), this.home.additions);
  }

  async interactions(): Promise<readonly api.Interaction[]> {
    return this.upToDate(({ work }) => allInteractions(work));
  }

  async respond(response: api.InteractionResponse): Promise<void> {
    return this.home.use((loaded) => respondInTree(loaded, response));
  }

  async emit(event: api.ClusterEvent): Promise<void> {
    const checked = checkClusterEvent(event);
    await this.home.use((loaded) => loaded.accept((batch) => addEvent(batch, checked, loaded.work.env.clock.now())));
  }

  async tool(name: string, input: JsonValue): Promise<api.ToolOutcome> {
    const call = checkCall(name, input);
    return this.home.use((loaded) => loaded.beside(hostCall(...call, true)));
  }

  async governedTool(name: string, input: JsonValue): Promise<api.ToolOutcome> {
    const call = checkCall(name, input);
    return this.home.use((loaded) => loaded.beside(hostCall(...call, false)));
  }

  async generateObject<Value = JsonValue>(request: api.ObjectRequest): Promise<api.ObjectResult<Value>> {
    const checked = checkObjectRequest(request);
    const result = await this.home.use((loaded) => loaded.beside(generateObject(checked)));
    return result as api.ObjectResult<Value>;
  }

  parallel(tasks: readonly api.ParallelTask[], options?: api.ParallelOptions): Promise<api.ParallelOutcome> {
    return parallel(this, tasks, options);
  }

  close(): Promise<void> {
    return this.home.close('closed');
  }

  /** Looks at the session with what other processes have appended until now. */
  private upToDate<Result>(look: (loaded: LoadedSession) => Result | Promise<Result>): Promise<Result> {
    return this.home.use(async (loaded) => {
      await loaded.work.journal.refresh();
      refuseGone(loaded.work.journal.state, this.id);
      return look(loaded);
    });
  }
}
