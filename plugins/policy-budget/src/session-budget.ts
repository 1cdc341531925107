import type { BudgetAmount, BudgetFact, SessionKey } from '@perdure/events';
import type {
  BudgetDecision,
  EventStore,
  LlmBudgetContext,
  LlmReleaseContext,
  LlmUsageContext,
  ToolBudgetContext,
} from '@perdure/plugin-api';
import { NOTHING } from './amount.js';
import { Block } from './block.js';
import { evolveBudget, freeOf, type BudgetState } from './budget-state.js';
import type { BudgetStream } from './budget-stream.js';
import { grantModelCall, grantToolCall, unitOf, type Grant, type GrantRules, type ModelCallNeed } from './grant.js';
import { spentFor, spentLeftBehind } from './left-behind.js';
import { priceOf, type Prices } from './prices.js';
import { SoftWarnings } from './soft-warnings.js';
import type { TimeLimit } from './time-limit.js';

export interface BudgetRules extends GrantRules {
  readonly prices: Prices;
  /** For models of agents that limit their answers not at all. */
  readonly maxOutputTokens: number;
}

export interface BudgetGround {
  readonly store: EventStore;
  /** Names this process among all that draw on a budget. */
  readonly holder: string;
  readonly rules: BudgetRules;
}

/**
 * What one session holds of its tree's budget in this process, which owns the session. Everything that is asked and
 * told comes one after the other.
 */
export class SessionBudget {
  private blocks: readonly Block[] = [];
  private last: Promise<unknown> = Promise.resolve();
  private waiting = 0;
  private readonly watches = new Map<string, () => void>();
  private readonly warnings = new SoftWarnings();

  constructor(
    private readonly session: SessionKey,
    private readonly stream: BudgetStream,
    private readonly time: TimeLimit,
    private readonly ground: BudgetGround,
  ) {}

  /** Whether nothing is held for it here, or about to be. */
  get isIdle(): boolean {
    return this.blocks.length === 0 && this.waiting === 0;
  }

  checkModelCall(call: LlmBudgetContext): Promise<BudgetDecision> {
    return this.exclusively(async () => {
      await this.refresh();
      const { limits } = this.stream.state;
      if (limits === undefined) return { decision: 'allow' };
      if (this.time.isOver) return this.timeIsOver();
      const { rules } = this.ground;
      const price = priceOf(rules.prices, call);
      if (limits.micros !== undefined && price === undefined) return priceUnknown(call);
      const wanted = call.maxOutputTokens ?? rules.maxOutputTokens;
      const need: ModelCallNeed = { estimatedTokens: call.estimatedTokens, maxOutputTokens: wanted, price };
      const known = this.blocks.find((block) => block.call(call.callId) !== undefined)?.call(call.callId);
      if (known !== undefined) return this.pass(call.callId, known.maxOutputTokens);
      const unit = unitOf(need, wanted);
      if (this.blocks.at(-1)?.has(unit, freeOf(this.stream.state)) === true) {
        this.blocks.at(-1)?.take(call.callId, { amount: unit, maxOutputTokens: wanted });
        return this.pass(call.callId, wanted);
      }
      const grant = await this.reserve(call.callId, (state) => grantModelCall(freeOf(state), need, rules));
      if (grant.status === 'denied') return { decision: 'deny', resource: grant.resource, reason: grant.reason };
      const { maxOutputTokens } = grant;
      this.blocks.at(-1)?.take(call.callId, { amount: grant.unit, maxOutputTokens });
      return this.pass(call.callId, maxOutputTokens);
    });
  }

  checkToolCall({ callId }: ToolBudgetContext): Promise<BudgetDecision> {
    return this.exclusively(async () => {
      await this.refresh();
      const { limits } = this.stream.state;
      if (limits === undefined) return { decision: 'allow' };
      if (this.time.isOver) return this.timeIsOver();
      if (limits.calls === undefined || this.blocks.some((block) => block.hasTool(callId))) {
        return { decision: 'allow' };
      }
      if (this.blocks.at(-1)?.has({ ...NOTHING, calls: 1 }, freeOf(this.stream.state)) !== true) {
        const grant = await this.reserve(callId, (state) => grantToolCall(freeOf(state), this.ground.rules));
        if (grant.status === 'denied') return { decision: 'deny', resource: grant.resource, reason: grant.reason };
      }
      this.blocks.at(-1)?.takeTool(callId);
      return this.warnings.about(this.stream.state) ?? { decision: 'allow' };
    });
  }

  /** An answer came whole. What was counted for it already, because the session was lost meanwhile, stays so. */
  record({ callId, usage, ...model }: LlmUsageContext): Promise<void> {
    return this.exclusively(async () => {
      const { promptTokens: inputTokens, completionTokens: outputTokens, totalTokens, cacheReadTokens } = usage;
      const told = { ...model, usage: { inputTokens, outputTokens, totalTokens, cacheReadTokens } };
      this.end(callId, (estimate) => spentFor(told, estimate, this.ground.rules.prices));
    });
  }

  /**
   * A call came to no answer. One that was broken off counts by its estimate: how much of it the provider had made is
   * not known.
   */
  release({ callId, outcome }: LlmReleaseContext): Promise<void> {
    return this.exclusively(async () => this.end(callId, (estimate) => (outcome === 'aborted' ? estimate : NOTHING)));
  }

  /** A run ended: what is held is settled, also what an owner before this one left behind. */
  endTurn(): Promise<void> {
    return this.exclusively(async () => {
      await this.refresh();
      if (this.stream.state.limits === undefined) return;
      const leftBehind = await this.leftBehind();
      const ended = this.blocks.filter(({ isIdle }) => isIdle);
      if (ended.length === 0 && leftBehind.length === 0) return;
      const facts = [...ended.map((block) => block.end('turn-ended')), ...leftBehind];
      await this.stream.commit((state) => ({ facts: stillOpen(facts, state), result: undefined }));
      this.blocks = this.blocks.filter((block) => !ended.includes(block));
    });
  }

  /** Settles what nothing draws on, holds a block for a call if there is room, and remembers it. */
  private async reserve(callId: string, grantOf: (state: BudgetState) => Grant): Promise<Grant> {
    const sessionId = this.session.id;
    const leftBehind = await this.leftBehind();
    const ended = this.blocks.filter(({ isIdle }) => isIdle);
    const ends = [...ended.map((block) => block.end('used')), ...leftBehind];
    const { grant, reservation } = await this.stream.commit((state) => {
      const facts = stillOpen(ends, state);
      const after = facts.reduce((next, fact) => evolveBudget(next, fact, ''), state);
      // Its time may have been shortened, and money limited, since the call was looked at: the next one is told.
      const granted = grantOf(after);
      const id = reservationId(sessionId, callId, after);
      const result = { grant: granted, reservation: id };
      if (granted.status === 'denied') return { facts, result };
      const { amount, unit } = granted;
      const payload = { reservation: id, sessionId, callId, holder: this.ground.holder, amount, unit };
      return { facts: [...facts, { type: 'BudgetReserved' as const, payload }], result };
    });
    this.blocks = this.blocks.filter((block) => !ended.includes(block));
    if (grant.status === 'granted') {
      this.blocks = [...this.blocks, new Block(reservation, sessionId, grant.amount)];
    }
    return grant;
  }

  /** Blocks of owners before this one, with what the session's stream says of them. */
  private async leftBehind(): Promise<readonly BudgetFact[]> {
    const { state } = this.stream;
    const { store, holder, rules } = this.ground;
    const blocks = [...state.open.values()].filter(
      (open) => open.sessionId === this.session.id && open.holder !== holder,
    );
    const [first, ...others] = blocks;
    if (first === undefined) return [];
    const countsTools = state.limits?.calls !== undefined;
    const count = { prices: rules.prices, countsTools };
    const amount = await this.stream.insist(() => spentLeftBehind(store, this.session, blocks, count));
    const common = { sessionId: this.session.id, reason: 'left-behind' } as const;
    return [
      { type: 'BudgetSettled', payload: { ...common, reservation: first.reservation, amount } },
      ...others.map(({ reservation }): BudgetFact => {
        return { type: 'BudgetReleased', payload: { ...common, reservation } };
      }),
    ];
  }

  /** Another owner of the session may have settled what this process held. */
  private async refresh(): Promise<void> {
    await this.stream.refresh();
    const { open } = this.stream.state;
    this.blocks = this.blocks.filter(({ reservation }) => open.get(reservation)?.holder === this.ground.holder);
  }

  private pass(callId: string, maxOutputTokens: number): BudgetDecision {
    const { state } = this.stream;
    this.watches.get(callId)?.();
    const { signal, end } = this.time.begin();
    this.watches.set(callId, end);
    const isBounded = state.limits?.tokens !== undefined || state.limits?.micros !== undefined;
    const decision = this.warnings.about(state) ?? { decision: 'allow' as const };
    return { ...decision, abortSignal: signal, ...(isBounded ? { maxOutputTokens } : {}) };
  }

  private end(callId: string, spent: (estimate: BudgetAmount) => BudgetAmount): void {
    this.watches.get(callId)?.();
    this.watches.delete(callId);
    for (const block of this.blocks) {
      const call = block.call(callId);
      if (call !== undefined) block.settle(callId, spent(call.amount));
    }
  }

  private timeIsOver(): BudgetDecision {
    return { decision: 'deny', resource: 'wall_time', reason: this.time.reason };
  }

  private exclusively<Result>(work: () => Promise<Result>): Promise<Result> {
    this.waiting++;
    const result = this.last.then(work).finally(() => this.waiting--);
    this.last = result.catch(() => undefined);
    return result;
  }
}

/** By session and call. A call that is tried again while another still draws on its first block gets a second one. */
function reservationId(sessionId: string, callId: string, { open }: BudgetState): string {
  const first = `${sessionId}:${callId}`;
  let id = first;
  for (let number = 2; open.has(id); number++) id = `${first}#${number}`;
  return id;
}

/** The ends of reservations that nobody else has ended meanwhile. */
function stillOpen(facts: readonly BudgetFact[], { open }: BudgetState): readonly BudgetFact[] {
  return facts.filter((fact) => fact.type === 'BudgetLimitSet' || open.has(fact.payload.reservation));
}

function priceUnknown({ model, provider, modelId }: LlmBudgetContext): BudgetDecision {
  const reason = `policy-budget has no price for the model "${model}" (${provider}/${modelId})`;
  return { decision: 'deny', resource: 'money', reason, code: 'PERDURE_BUDGET_PRICE_UNKNOWN' };
}
