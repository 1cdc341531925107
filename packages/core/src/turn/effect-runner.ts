import { setMaxListeners } from 'node:events';
import type { CoreType, PayloadOf } from '@perdure/events';
import { errorMessage } from '@perdure/plugin-api';
import type { ComposedStep } from '../compose/composer.js';
import type { AgentView } from '../host/agent-view.js';
import { askGate, decideCall } from '../invoke/decide-call.js';
import { reconcileTool } from '../invoke/tool-invoker.js';
import type { InvocationContext } from '../invoke/invocation-context.js';
import { DraftWriter } from '../live/draft-writer.js';
import { readDraft } from '../live/draft-reader.js';
import { answerMessageId } from '../live/live-answer.js';
import { draftFact, type DraftedFact } from '../session/fact-batch.js';
import type { Ownership } from '../session/ownership.js';
import { currentTurn, type OpenTurn, type SessionState } from '../session/session-state.js';
import { askModel } from './ask-model.js';
import { assertLeased } from './assert-leased.js';
import { artifactsOf, startCall, type RunningCall } from './call-runner.js';
import { compactByRequest, compactForStep, type CompactionSite } from './compact-history.js';
import { invocationContextOf } from './invocation-context-of.js';
import { outermost } from './nested-calls.js';
import { isParallel, type EffectIntent, type ProcessView } from './decider.js';
import { TurnClock } from './turn-clock.js';
import { approvalPayload, decisionPayload, NODE } from './record-intent.js';
import { partsOf } from './side-call.js';
import { reportLate } from './report-late.js';
import type { SessionWork } from './session-work.js';

/** What this process remembers of the step that it began, beside the facts of it. */
export interface StepMemory {
  stepId?: string | undefined;
  composed?: ComposedStep;
}

/** The agent as it was when a step began in this process; as it is now for a step that another process began. */
export function frozenAgent(memory: StepMemory, stepId: string | undefined, work: SessionWork): AgentView {
  return memory.composed !== undefined && memory.stepId === stepId ? memory.composed.agent : work.agent();
}

/** Facts about outcomes of one commit, so that there is room for what follows from them. */
const SETTLED_TOGETHER = 100;

/** A controller that as many calls listen to as an answer may have. */
function controllerOfMany(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

type Effect<Do extends EffectIntent['do']> = Extract<EffectIntent, { readonly do: Do }>;

/**
 * Has the effects that the decider asks for. What comes back are facts that say what happened; nothing here decides.
 */
export class EffectRunner {
  private readonly running = new Map<string, RunningCall>();
  private readonly voided = new Set<string>();
  private readonly draft: DraftWriter;
  private readonly clock: TurnClock;
  private answering = new AbortController();
  private calling = controllerOfMany();
  private graceTimer: NodeJS.Timeout | undefined;
  private suspended = false;

  constructor(
    private readonly work: SessionWork,
    private readonly held: Ownership,
    private readonly memory: StepMemory,
  ) {
    this.clock = new TurnClock(work.journal);
    this.draft = new DraftWriter(work.key, work.store, held.epoch, work.logger);
  }

  /** What the decider must know of this process. */
  get process(): ProcessView {
    return { underWay: this.running, voided: this.voided };
  }

  /**
   * Breaks off the model call and the calls that run. A stop ends one turn; the next begins with signals of its own.
   */
  stop(): void {
    this.answering.abort(new Error('The turn was stopped.'));
    this.calling.abort(new Error('The turn was stopped.'));
  }

  /** Calls that were told to end and have not are no longer waited for. */
  giveUpCalls(): void {
    if (this.calling.signal.aborted) for (const running of this.running.values()) running.giveUp();
  }

  /** Breaks off the model call at once and calls after a grace. */
  suspend(graceMs: number): void {
    this.suspended = true;
    this.answering.abort(new Error('The session was let go.'));
    const end = (): void => this.calling.abort(new Error('The session was let go.'));
    if (this.running.size === 0) end();
    else this.graceTimer = setTimeout(end, graceMs);
  }

  /** The session is another node's: nobody waits for an answer, and calls that run go on and are told as late. */
  leave(): void {
    this.suspended = true;
    this.answering.abort(new Error('Another node took the session over.'));
  }

  /** Before every effect. Throws PERDURE_SESSION_FENCED when another node may have the session. */
  assertLeased(): Promise<void> {
    return assertLeased(this.work, this.held);
  }

  async perform(intent: EffectIntent): Promise<readonly DraftedFact[]> {
    const { state } = this.work.journal;
    // A stop that came since the intent was decided holds for it; one of an earlier turn does not.
    if (this.answering.signal.aborted && !this.suspended && currentTurn(state)?.stop === undefined) {
      this.answering = new AbortController();
      this.calling = controllerOfMany();
    }
    switch (intent.do) {
      case 'ask-model':
        return this.timed(intent, () => this.askModel(intent, state));
      case 'decide-call':
        return this.waitForGates(intent, state);
      case 'run-calls':
        return this.timed(intent, () => this.runCalls(intent, state));
      case 'reconcile-call':
        return this.reconcile(intent, state);
      case 'recover-run':
        return this.recoverRun(intent, state);
      case 'compact':
        return compactByRequest(intent.change.changeId, this.compactionSite(state));
      case 'make-room':
        return this.timed(intent, () => compactForStep(intent.plan, this.compactionSite(state)));
    }
  }

  private compactionSite(state: SessionState): CompactionSite {
    const { work, held, answering: controller } = this;
    return { work, context: this.contextOf(state, controller), epoch: held.epoch, controller };
  }

  private timed<Result>(intent: { readonly turn: OpenTurn }, work: () => Promise<Result>): Promise<Result> {
    return this.clock.during(intent.turn, this.work.agent().parts.limits.maxTurnMs, work);
  }

  contextOf(state: SessionState, controller = this.calling): InvocationContext {
    return invocationContextOf(this.work, state, controller.signal);
  }

  async discardDraft(): Promise<void> {
    clearTimeout(this.graceTimer);
    await this.draft.discard();
  }

  /** What calls come to after the session was lost is told, although it settles nothing. */
  async reportLate(outcomes: readonly PayloadOf<'ToolCallSettled'>[]): Promise<void> {
    for (const outcome of outcomes) await reportLate(this.work, this.held, outcome);
    for (const running of this.running.values()) {
      await running.ended;
      if (running.outcome !== undefined) await reportLate(this.work, this.held, running.outcome);
    }
    this.running.clear();
  }

  private async askModel(intent: Effect<'ask-model'>, state: SessionState): Promise<readonly DraftedFact[]> {
    const agent = this.work.agent();
    const known = this.memory.stepId === intent.step.stepId ? this.memory.composed : undefined;
    const composed = known ?? this.work.composer.compose(state, agent, []);
    this.memory.stepId = intent.step.stepId;
    this.memory.composed = composed;
    return askModel(intent, composed, this.work, this.contextOf(state, this.answering), this.draft, {
      epoch: this.held.epoch,
      controller: this.answering,
      isHandingOver: () => this.suspended,
    });
  }

  private async waitForGates(intent: Effect<'decide-call'>, state: SessionState): Promise<readonly DraftedFact[]> {
    const agent = frozenAgent(this.memory, intent.step.stepId, this.work);
    const context = this.contextOf(state, this.answering);
    const decision = await decideCall(intent.call, agent.governance(context.workspace), context, askGate);
    // A question that the turn's end took away was not answered.
    if (context.signal.aborted) return [];
    const hits = decision.hits.map((hit) => this.fact('BudgetThresholdHit', hit, state));
    const request = approvalPayload(intent.call, decision, agent, () => this.work.env.clock.now());
    if (request !== undefined) return [...hits, this.fact('ApprovalRequested', request, state)];
    return [...hits, this.fact('ToolCallDecided', decisionPayload(intent.call, decision, agent.policy), state)];
  }

  private async runCalls(intent: Effect<'run-calls'>, state: SessionState): Promise<readonly DraftedFact[]> {
    const agent = frozenAgent(this.memory, intent.turn.step?.stepId, this.work);
    const site = {
      work: this.work,
      held: this.held,
      agent,
      context: this.contextOf(state),
      isHandingOver: () => this.suspended,
    };
    for (const call of intent.calls) {
      if (!this.running.has(call.callId))
        this.running.set(call.callId, startCall(call, site, partsOf(call, outermost, site)));
    }
    const parallel = intent.turn.step !== undefined && isParallel(intent.turn.step);
    for (;;) {
      const settled = this.takeSettled(intent, parallel, state);
      if (settled.length > 0) return settled;
      const waiting = intent.calls.flatMap(({ callId }) => {
        const running = this.running.get(callId);
        return running === undefined || running.outcome !== undefined ? [] : [running.ended];
      });
      // What was broken off is settled by whoever goes on, by its contract.
      if (waiting.length === 0) return [];
      await Promise.race(waiting);
    }
  }

  /**
   * Outcomes in the order of the calls: two runs of the same work leave the same stream, whichever call was quicker.
   */
  private takeSettled(intent: Effect<'run-calls'>, inOrder: boolean, state: SessionState): DraftedFact[] {
    const facts: DraftedFact[] = [];
    for (const { callId } of intent.calls) {
      if (facts.length >= SETTLED_TOGETHER) break;
      const outcome = this.running.get(callId)?.outcome;
      if (outcome === undefined) {
        if (inOrder) break;
        continue;
      }
      const wasBroken = outcome.status === 'cancelled' || outcome.status === 'unknown';
      if (this.suspended && wasBroken) continue;
      this.running.delete(callId);
      for (const artifact of artifactsOf(outcome)) facts.push(this.fact('ArtifactStored', { artifact, callId }, state));
      facts.push(this.fact('ToolCallSettled', outcome, state));
    }
    return facts;
  }

  private async reconcile(intent: Effect<'reconcile-call'>, state: SessionState): Promise<readonly DraftedFact[]> {
    const { call } = intent;
    const context = this.contextOf(state);
    const tool = this.work.agent().toolSet(context.workspace).tools.get(call.name);
    const startedAt = this.work.env.clock.now();
    const key = call.started?.idempotencyKey ?? '';
    const answer =
      tool === undefined
        ? ({ status: 'unknown' } as const)
        : await reconcileTool({ call, tool, idempotencyKey: key, secrets: this.work.secrets }, context);
    if (context.signal.aborted) return [];
    if (answer.status === 'voided') {
      this.voided.add(call.callId);
      return [];
    }
    const endedAt = this.work.env.clock.now();
    const { callId } = call;
    if (answer.status === 'happened') {
      const trust = tool === undefined ? {} : { trust: tool.trust };
      const happened = { callId, status: 'completed', output: answer.output, ...trust, startedAt, endedAt } as const;
      return [this.fact('ToolCallSettled', happened, state)];
    }
    const code = 'PERDURE_TOOL_UNKNOWN_OUTCOME';
    const failure = { code, message: errorMessage(code, { tool: call.name }) };
    return [this.fact('ToolCallSettled', { callId, status: 'unknown', failure, endedAt }, state)];
  }

  private async recoverRun(intent: Effect<'recover-run'>, state: SessionState): Promise<readonly DraftedFact[]> {
    const { turn, runId } = intent;
    const { turnId, step, steps, usage } = turn;
    const facts: DraftedFact[] = [];
    if (step !== undefined && step.answer === undefined && step.interrupted !== 'crashed') {
      const key = { stepId: step.stepId, attempt: step.failures + 1 };
      const { journal, store, key: session } = this.work;
      const parts = await journal.patience.insist('owner', () => readDraft(store, session, key));
      if (parts !== undefined) {
        const fact = { ...key, messageId: answerMessageId(key), reason: 'crashed' as const, parts: [...parts] };
        facts.push(this.fact('AnswerInterrupted', fact, state));
      }
    }
    facts.push(this.fact('RunEnded', { runId, turnId, status: 'superseded', steps, usage }, state));
    return facts;
  }

  private fact<Type extends CoreType>(type: Type, payload: PayloadOf<Type>, state: SessionState): DraftedFact<Type> {
    const { turnId, runId, stepId } = this.contextOf(state);
    return draftFact(type, payload, { turnId, runId, stepId }, NODE, this.held.epoch, this.work.batchContext);
  }
}
