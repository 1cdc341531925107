import type { EventEnvelopeV1, JsonValue, SystemBlock } from '@perdure/events';
import {
  PerdureError,
  reasonOf,
  type ActiveTool,
  type BudgetGuard,
  type ChangeHandle,
  type ClusterEvent,
  type CommandHandler,
  type CommandInfo,
  type EventsOptions,
  type HookConfig,
  type HookEvent,
  type HookHandler,
  type HookMatcher,
  type Interaction,
  type InteractionResponse,
  type MessagePage,
  type MessagesOptions,
  type Mutation,
  type PromptLike,
  type ResumeOptions,
  type RunEvent,
  type RunEventPage,
  type RunEventPageOptions,
  type RunSnapshot,
  type Session,
  type SessionInfo,
  type SettleOptions,
  type Settlement,
  type StopResult,
  type ToolOutcome,
  type TurnHandle,
  type TurnResult,
  type TurnStream,
} from '@perdure/plugin-api';
import { beginning, parseCursor } from '../live/cursor.js';
import { readEvents } from '../live/event-reader.js';
import { subscribeMutations } from '../live/mutations.js';
import { listCommands } from '../commands/command-list.js';
import { RunRecords } from '../runs/run-records.js';
import { stopEverything } from './accept-input.js';
import { changeHandle } from './change-handle.js';
import { Conversation } from './conversation.js';
import { addEvent, checkClusterEvent } from './emit-event.js';
import { pendingInteractions, respondTo } from './interactions.js';
import type { LoadedSession } from './loaded-session.js';
import type { SessionHome } from './session-home.js';
import {
  checkCall,
  checkEventsOptions,
  checkListener,
  checkModelChange,
  checkOptions,
  checkReason,
  checkResumeOptions,
} from './session-input.js';
import { messagePage, sessionInfo, sessionSnapshot } from './session-views.js';
import { turnHandle } from './turn-handle.js';

/** The public handle of a session. It holds no state of the conversation; its home loads that with the first use. */
export class DurableSession implements Session {
  private readonly conversation: Conversation;
  private readonly records: RunRecords;

  constructor(private readonly home: SessionHome) {
    this.conversation = new Conversation(home);
    this.records = new RunRecords(home);
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

  prompt(input: PromptLike): Promise<TurnHandle> {
    return this.conversation.prompt(input);
  }

  send(input: PromptLike): Promise<TurnResult> {
    return this.conversation.send(input);
  }

  stream(input: PromptLike): TurnStream {
    return this.conversation.stream(input);
  }

  resumeRun(runId: string, options?: ResumeOptions): Promise<TurnResult> {
    return this.conversation.resumeRun(runId, options);
  }

  async resume(options?: ResumeOptions): Promise<TurnHandle | null> {
    const checked = checkResumeOptions(options);
    const loaded = await this.home.load();
    await loaded.work.journal.refresh();
    const turn = loaded.work.journal.state.open[0];
    await loaded.run({ ...checked, insist: true });
    if (turn === undefined) return null;
    const promptId = turn.prompts[0]?.promptId ?? '';
    return turnHandle(loaded, { promptId, turnId: turn.turnId, isKnown: true });
  }

  async stop(reason?: string): Promise<StopResult> {
    checkReason(reason);
    const { journal } = (await this.home.load()).work;
    const turnId = await stopEverything(journal, reason);
    return { stopped: turnId !== undefined, turnId: turnId ?? null };
  }

  runs(): Promise<readonly RunSnapshot[]> {
    return this.records.list();
  }
  runSnapshot(runId: string): Promise<RunSnapshot | null> {
    return this.records.snapshot(runId);
  }
  runEvents(runId: string): Promise<readonly RunEvent[]> {
    return this.records.events(runId);
  }
  runEventPage(runId: string, options?: RunEventPageOptions): Promise<RunEventPage | null> {
    return this.records.eventPage(runId, options);
  }
  currentRun(): Promise<RunSnapshot | null> {
    return this.records.current();
  }
  activeTools(): Promise<readonly ActiveTool[]> {
    return this.records.activeTools();
  }
  cancelRun(runId: string): Promise<boolean> {
    return this.records.cancel(runId);
  }
  cancelAndSettle(options?: SettleOptions): Promise<Settlement> {
    return this.records.cancelAndSettle(options);
  }

  async *events(options?: EventsOptions): AsyncGenerator<EventEnvelopeV1, void, undefined> {
    const { from: cursor, signal } = checkEventsOptions(options);
    const loaded = await this.home.load();
    const { journal } = loaded.work;
    loaded.follow();
    if (cursor !== undefined) await journal.refresh();
    const from = cursor === undefined ? beginning : parseCursor(cursor, this.id, journal.head);
    yield* readEvents(loaded.eventSource(), from, { signal, over: loaded.over });
  }

  subscribe(listener: (mutation: Mutation) => void): () => void {
    checkListener(listener);
    let end: (() => void) | undefined;
    let isEnded = false;
    const report = (error: unknown): void => {
      this.home.logger.log('warn', 'A listener of a session failed.', { session: this.id, reason: reasonOf(error) });
    };
    this.home.load().then((loaded) => {
      if (isEnded) return;
      loaded.follow();
      end = subscribeMutations(this.id, loaded.work.journal, loaded.work.feed, listener, report);
    }, report);
    return () => {
      isEnded = true;
      end?.();
    };
  }

  async info(): Promise<SessionInfo> {
    return sessionInfo((await this.upToDate()).work.journal);
  }

  async messages(options?: MessagesOptions): Promise<MessagePage> {
    const checked = checkOptions(options);
    return messagePage((await this.upToDate()).work.journal.state, checked);
  }

  async system(): Promise<readonly SystemBlock[]> {
    const { composer, journal, agent } = (await this.upToDate()).work;
    return composer.system(journal.state, agent()).blocks;
  }

  snapshot(): Promise<ChangeHandle> {
    return this.home.load().then((loaded) => changeHandle(loaded, { kind: 'system', action: 'freeze' }));
  }

  syncshot(): Promise<ChangeHandle> {
    return this.home.load().then((loaded) => changeHandle(loaded, { kind: 'system', action: 'refresh' }));
  }

  async set(change: { readonly model: string }): Promise<ChangeHandle> {
    const model = checkModelChange(change);
    return changeHandle(await this.home.load(), { kind: 'model', model });
  }

  compact(): Promise<ChangeHandle> {
    return this.home.load().then((loaded) => changeHandle(loaded, { kind: 'compact' }));
  }

  async save(): Promise<void> {
    const { snapshots } = this.home;
    if (snapshots === undefined) return;
    if (!snapshots.atomic) throw new PerdureError('PERDURE_SNAPSHOT_UNSUPPORTED', { store: snapshots.name });
    const { key, journal } = (await this.upToDate()).work;
    const { state, head: revision, hash, time } = journal;
    await snapshots.save(this.id, sessionSnapshot(key, { state, revision, hash, time }));
  }

  registerHook<Event extends HookEvent>(
    id: string,
    event: Event,
    matcher?: HookMatcher | null,
    config?: HookConfig | null,
    handler?: HookHandler<Event> | null,
  ): void {
    this.home.additions.registerHook(id, event, matcher, config, handler);
  }

  unregisterHook(id: string): boolean {
    return this.home.additions.unregisterHook(id);
  }

  hookCount(): number {
    return this.home.additions.hookCount;
  }

  setBudgetGuard(guard: BudgetGuard | null): void {
    this.home.additions.setBudgetGuard(guard);
  }

  registerCommand(name: string, description: string, handler: CommandHandler, timeoutMs?: number): void {
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    this.home.additions.registerCommand({ name, description, handler, ...limit });
  }

  unregisterCommand(name: string): boolean {
    return this.home.additions.unregisterCommand(name);
  }

  listCommands(): readonly CommandInfo[] {
    return listCommands(this.home.agent(), this.home.additions);
  }

  async interactions(): Promise<readonly Interaction[]> {
    return pendingInteractions((await this.upToDate()).work.journal.state);
  }

  async respond(response: InteractionResponse): Promise<void> {
    return respondTo(await this.home.load(), response);
  }

  async emit(event: ClusterEvent): Promise<void> {
    const checked = checkClusterEvent(event);
    const { work } = await this.home.load();
    await work.journal.commit((batch) => addEvent(batch, checked, work.env.clock.now()), 'input');
  }

  async tool(name: string, input: JsonValue): Promise<ToolOutcome> {
    const call = checkCall(name, input);
    return (await this.home.load()).tool(...call, true);
  }

  async governedTool(name: string, input: JsonValue): Promise<ToolOutcome> {
    const call = checkCall(name, input);
    return (await this.home.load()).tool(...call, false);
  }

  close(): Promise<void> {
    return this.home.close('closed');
  }

  /** The session with what other processes have appended until now. */
  private async upToDate(): Promise<LoadedSession> {
    const loaded = await this.home.load();
    await loaded.work.journal.refresh();
    return loaded;
  }
}
