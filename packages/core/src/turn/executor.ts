import type { ActivePlugin } from '@perdure/events';
import { errorMessage, isPerdureError, reasonOf, type PerdureError } from '@perdure/plugin-api';
import { ChildWatch } from '../children/child-watch.js';
import { isSamePlugins } from '../host/same-plugins.js';
import { decideCall } from '../invoke/decide-call.js';
import { draftFact, type DraftedFact, type FactBatch } from '../session/fact-batch.js';
import { assertOwner, type Ownership } from '../session/ownership.js';
import { currentTurn } from '../session/session-state.js';
import { typedError } from '../session/typed-error.js';
import { applyChange } from './apply-change.js';
import { isFactIntent, nextIntent, type EffectIntent, type FactIntent } from './decider.js';
import { EffectRunner, frozenAgent, type StepMemory } from './effect-runner.js';
import { HeldPlugins } from './held-plugins.js';
import { handOver, recordDecision, recordIntentOrEnd, type RecordContext } from './record-intent.js';
import { settleParts } from './side-call-state.js';
import type { SessionWork } from './session-work.js';

/** A gate that waits answers later: the rules before it are asked now, the gate itself as an effect of its own. */
const LATER = new Promise<never>(() => undefined);

/** What comes behind a commit: an effect, nothing, or more facts than the store takes at once. */
type Next = EffectIntent | { readonly do: 'rest' } | { readonly do: 'more' };

/**
 * Runs the turns of one session that this node owns: append what the decider says comes next, have the effect that it
 * asks for, append what came of it, and so on. There is one loop per session and no other place that drives it.
 */
export class Executor {
  private loop: Promise<void> | undefined;
  private again = false;
  private readonly memory: StepMemory = {};
  private readonly effects: EffectRunner;
  private readonly children: ChildWatch;
  private suspending = false;
  private isRetired = false;
  private readonly plugins = new HeldPlugins();
  /** What happened and could not be appended, because the session is another node's. */
  private lost: readonly DraftedFact[] = [];

  constructor(
    private readonly work: SessionWork,
    private readonly held: Ownership,
    private readonly missing: readonly { readonly kind: string; readonly id: string }[],
    /** Told once, when the loop ends by an error: fenced, or a store that cannot be used. */
    private readonly onFailure: (error: PerdureError) => void,
  ) {
    this.effects = new EffectRunner(work, held, this.memory);
    this.children = new ChildWatch(work, held);
  }

  /** Looks whether there is something to do. Safe to call at any time. */
  wake(): void {
    if (this.isRetired) return;
    this.again = true;
    // A call may wait long for those at work; the loop tells them of what this could not.
    void this.children.tellModes();
    this.loop ??= this.drive()
      .catch((error: unknown) => this.fail(error))
      .finally(() => {
        this.loop = undefined;
        if (this.suspending) this.plugins.release();
        if (this.again && !this.suspending) this.wake();
      });
  }

  /** Ends what is under way because its turn was asked to end. */
  stopTurn(turnId: string): void {
    if (currentTurn(this.work.journal.state)?.turnId !== turnId) return;
    this.effects.stop();
    // A turn that waits for a person has nothing under way that would end.
    this.wake();
  }

  /** What was stopped and has not ended is no longer waited for. */
  giveUpCalls(turnId: string): void {
    if (currentTurn(this.work.journal.state)?.turnId === turnId) this.effects.giveUpCalls();
  }

  /**
   * Ends the loop at a point from which another owner goes on: calls that run may end within the grace, and the run is
   * handed over. Resolves when nothing of it is left.
   */
  async suspend(graceMs: number): Promise<void> {
    this.suspending = true;
    this.children.end();
    this.effects.suspend(graceMs);
    // A turn that waits for a person is handed over too.
    this.wake();
    await this.loop;
    await this.effects.discardDraft();
  }

  /** Another node has the session: work stops here, and what calls still come to is reported. */
  leave(): void {
    this.suspending = true;
    this.children.end();
    this.effects.leave();
  }

  /** The session was given back with nothing under way: whatever this loop was woken for is the next owner's. */
  retire(): void {
    this.isRetired = true;
    this.leave();
  }

  discardDraft(): Promise<void> {
    return this.effects.discardDraft();
  }

  private async drive(): Promise<void> {
    let inputs: readonly DraftedFact[] = [];
    while (this.again || inputs.length > 0) {
      this.again = false;
      await this.children.modes.tell();
      const intent = await this.commit(inputs);
      this.children.look();
      inputs = [];
      this.holdPlugins(intent.do !== 'rest');
      if (intent.do === 'more') {
        this.again = true;
        continue;
      }
      if (intent.do === 'rest') {
        await this.effects.discardDraft();
        continue;
      }
      await this.effects.assertLeased();
      inputs = await this.effects.perform(intent);
      this.again = true;
    }
  }

  /** The plugins of a step stay until it has ended, and those of other work while it lasts. */
  private holdPlugins(isWorking: boolean): void {
    const step = currentTurn(this.work.journal.state)?.step;
    if (isWorking || step !== undefined) this.plugins.hold(frozenAgent(this.memory, step?.stepId, this.work));
    else this.plugins.release();
  }

  /** Appends what happened and everything that follows from it, up to the next effect. */
  private async commit(inputs: readonly DraftedFact[]): Promise<Next> {
    try {
      return await this.work.journal.commit((batch) => {
        if (this.isRetired && inputs.length === 0) return { do: 'rest' } as const;
        assertOwner(batch, this.held, this.work.key.id);
        for (const input of inputs) {
          if (isSettlement(input)) settleParts(batch, input.payload.callId, this.work);
          batch.keep(input);
        }
        if (!this.suspending) return this.advance(batch);
        handOver(batch);
        return { do: 'rest' } as const;
      }, 'owner');
    } catch (error) {
      const smaller = isPerdureError(error, 'PERDURE_STORE_TOO_LARGE')
        ? withoutAnswer(inputs, this.held.epoch, this.work)
        : undefined;
      if (smaller !== undefined) return this.commit(smaller);
      if (isPerdureError(error, 'PERDURE_SESSION_FENCED')) this.lost = inputs;
      throw error;
    }
  }

  private advance(batch: FactBatch): Next {
    for (;;) {
      if (batch.isFull) return { do: 'more' };
      const agent = this.work.agent(batch.state);
      const intent = nextIntent(batch.state, agent.parts.limits, this.effects.process, (state, reason, joining) =>
        this.work.composer.planCompaction(state, agent, joining, reason),
      );
      if (intent.do === 'decide-call') {
        if (!this.decideAtOnce(batch, intent)) return intent;
      } else if (intent.do === 'apply-change' && !this.children.modes.hasTold(intent.change)) return { do: 'more' };
      else if (isFactIntent(intent)) this.record(batch, intent);
      else return intent;
    }
  }

  /** Whether the gates of a call answered without waiting; then the decision is in the batch. */
  private decideAtOnce(batch: FactBatch, intent: Extract<EffectIntent, { do: 'decide-call' }>): boolean {
    const agent = frozenAgent(this.memory, intent.step.stepId, this.work);
    const context = this.effects.contextOf(batch.state);
    const decision = decideCall(intent.call, agent.governance(context.workspace), context, () => LATER);
    if (decision instanceof Promise) return false;
    recordDecision(batch, intent.call, decision, agent, () => this.work.env.clock.now());
    return true;
  }

  private record(batch: FactBatch, intent: FactIntent): void {
    const { work } = this;
    const { state } = batch;
    const agent = work.agent(state);
    const step = frozenAgent(this.memory, currentTurn(state)?.step?.stepId, work);
    const context: RecordContext = {
      sessionId: work.key.id,
      plugins: agent.parts.plugins,
      newRunId: () => work.env.idGenerator.next(`${work.key.id}-${this.held.epoch}-run`),
      now: () => work.env.clock.now(),
      missing: this.missing,
      tool: (name) => step.toolSet(state.identity?.workspace).tools.get(name),
      expiresAt: (expiresInMs) => work.env.clock.now() + expiresInMs,
      compose: (joining) => {
        const composed = work.composer.compose(batch.state, agent, joining);
        this.memory.composed = composed;
        return composed;
      },
      applyChange: (changed, change) => {
        const servesPlugins = (plugins: readonly ActivePlugin[]): boolean =>
          isSamePlugins(work.agent({ plugins }).parts.plugins, plugins);
        const { composer, variables } = work;
        applyChange(changed, change, { agent, composer, variables, servesPlugins }, work.key.id);
      },
    };
    recordIntentOrEnd(batch, intent, context);
    if (intent.do === 'start-step') this.memory.stepId = currentTurn(batch.state)?.step?.stepId;
  }

  private async fail(error: unknown): Promise<void> {
    const typed = typedError(error, this.work.redaction);
    this.again = false;
    this.leave();
    if (typed.entry.kind === 'bug') {
      this.work.logger.log('error', typed.message, { session: this.work.key.id, reason: reasonOf(error) });
    }
    this.onFailure(typed);
    if (typed.code === 'PERDURE_SESSION_FENCED') await this.reportLost();
  }

  private async reportLost(): Promise<void> {
    const settled = this.lost.filter(isSettlement);
    try {
      await this.effects.reportLate(settled.map(({ payload }) => payload));
    } catch (error) {
      this.work.logger.log('warn', 'A late result could not be reported.', { reason: reasonOf(error) });
    }
  }
}

function isSettlement(fact: DraftedFact): fact is DraftedFact<'ToolCallSettled'> {
  return fact.type === 'ToolCallSettled';
}

/**
 * What is kept of inputs that the store would not take: in the place of an answer that is too large, that it was. It
 * would be as large another time. `undefined` when there is no answer among them.
 */
function withoutAnswer(
  inputs: readonly DraftedFact[],
  epoch: number,
  work: SessionWork,
): readonly DraftedFact[] | undefined {
  const answered = inputs.find((fact): fact is DraftedFact<'ModelAnswered'> => fact.type === 'ModelAnswered');
  if (answered === undefined) return undefined;
  const { purpose, stepId, attempt, model, provider, modelId, startedAt, endedAt } = answered.payload;
  const code = 'PERDURE_ANSWER_TOO_LARGE';
  const payload = {
    ...{ purpose, attempt, model, provider, modelId, startedAt, endedAt },
    ...(stepId === undefined ? {} : { stepId }),
    failure: { code, message: errorMessage(code, {}) },
    retryable: false,
  };
  return [draftFact('ModelCallFailed', payload, answered.scope, answered.actor, epoch, work.batchContext)];
}
