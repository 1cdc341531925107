import {
  FactRegistry,
  sessionStream,
  type BudgetAmount,
  type PayloadOf,
  type RecordedFact,
  type SessionKey,
} from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { NOTHING, plus } from './amount.js';
import type { Reservation } from './budget-state.js';
import { costOf, priceOf, type Prices } from './prices.js';

/** How a session's stream is looked at. */
export interface SpendingRules {
  readonly prices: Prices;
  /** Whether calls of tools were counted. */
  readonly countsTools: boolean;
}

const registry = new FactRegistry();
const PAGE = 200;

/**
 * What a session spent of blocks whose holder is gone, by the session's own stream behind the first of them: every
 * answer with its usage, every tool call that was let through, and the one call that may have been under way as its
 * block's estimate. An answer that died between provider and commit is lost spend: it was paid for.
 */
export async function spentLeftBehind(
  store: EventStore,
  session: SessionKey,
  blocks: readonly Reservation[],
  rules: SpendingRules,
): Promise<BudgetAmount> {
  const [first] = blocks.toSorted((a, b) => (a.position < b.position ? -1 : 1));
  if (first === undefined) return NOTHING;
  const unit = blocks.reduce((most, block) => (block.unit.tokens > most.tokens ? block.unit : most), first.unit);
  const facts = await factsBehind(store, session, first.position);
  return spentIn(facts, unit, rules);
}

/** The session's facts from a position on, in their order. */
async function factsBehind(store: EventStore, session: SessionKey, position: string): Promise<readonly RecordedFact[]> {
  const found: RecordedFact[] = [];
  for (let from: number | undefined; ;) {
    const page: Awaited<ReturnType<EventStore['read']>> = await store.read(sessionStream(session), {
      direction: 'backwards',
      limit: PAGE,
      ...(from === undefined ? {} : { from }),
    });
    const behind = page.facts.filter((fact) => fact.position > position);
    found.push(...behind);
    if (page.next === undefined || behind.length < page.facts.length) return found.reverse();
    from = page.next;
  }
}

/** Facts of a session that come behind a reservation, as what they cost. `unit` is the estimate of one model call. */
export function spentIn(facts: readonly RecordedFact[], unit: BudgetAmount, rules: SpendingRules): BudgetAmount {
  let spent = NOTHING;
  // A block for model calls is made when the first of them is about to begin.
  let isUnderWay = unit.tokens > 0;
  const compactions = new Set<string>();
  for (const fact of facts) {
    const { type, payload, kind } = registry.read(fact);
    if (kind !== 'known') continue;
    switch (type) {
      case 'StepStarted':
        isUnderWay = true;
        break;
      case 'ModelAnswered':
        spent = plus(spent, spentFor(payload as PayloadOf<'ModelAnswered'>, unit, rules.prices));
        if (!isBesideTurn(payload)) isUnderWay = false;
        break;
      case 'ModelCallDenied':
        if (!isBesideTurn(payload)) isUnderWay = false;
        break;
      case 'ModelCallFailed':
        // One that may be tried again may have been under way again.
        if (!isBesideTurn(payload)) isUnderWay = (payload as PayloadOf<'ModelCallFailed'>).retryable;
        break;
      case 'RunEnded': {
        const { status } = payload as PayloadOf<'RunEnded'>;
        if (status === 'completed' || status === 'failed') isUnderWay = false;
        break;
      }
      case 'ToolCallDecided':
        if (rules.countsTools && (payload as PayloadOf<'ToolCallDecided'>).decision === 'allow') {
          spent = plus(spent, { ...NOTHING, calls: 1 });
        }
        break;
      case 'ChangeRequested': {
        const { change, changeId } = payload as PayloadOf<'ChangeRequested'>;
        if (change.kind === 'compact') compactions.add(changeId);
        break;
      }
      case 'ChangeApplied':
        compactions.delete((payload as PayloadOf<'ChangeApplied'>).changeId);
        break;
    }
  }
  return isUnderWay || compactions.size > 0 ? plus(spent, unit) : spent;
}

/** Usage as budgets are told it, in the terms of facts. */
export interface CallUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly cacheReadTokens: number;
}

/** What an answer cost. A provider that reports nothing was paid all the same: then it is the estimate. */
export function spentFor(
  call: { readonly model: string; readonly provider: string; readonly modelId: string; readonly usage: CallUsage },
  estimate: BudgetAmount,
  prices: Prices,
): BudgetAmount {
  const { inputTokens: input, outputTokens: output, totalTokens, cacheReadTokens: cached } = call.usage;
  const tokens = Math.max(totalTokens, input + output);
  if (tokens === 0) return { ...estimate, calls: 1 };
  return { tokens, micros: costOf(priceOf(prices, call), { input, cached, output }), calls: 1 };
}

/** A call for a title says nothing of the one that the turn may have had under way. */
function isBesideTurn(payload: unknown): boolean {
  return (payload as { readonly purpose?: unknown }).purpose === 'title';
}
