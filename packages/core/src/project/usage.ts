import { addUsage, keyText, noUsage, usage, type PayloadOf } from '@perdure/events';
import type { ModelPrice } from '../host/runtime-options.js';
import type { Projection } from './projection.js';

/** What a session spent on one model. */
export interface UsageRow {
  readonly session: string;
  readonly tenant: string | null;
  readonly modelId: string;
  readonly calls: number;
  readonly failedCalls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly reasoningTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** Usage by session and model. */
export const usageByModel: Projection<UsageRow> = {
  name: 'usage',
  version: 1,
  types: ['ModelAnswered', 'ModelCallFailed'],
  keys: (fact) => [`${keyText(fact.key)}/${(fact.payload as PayloadOf<'ModelAnswered'>).modelId}`],
  evolve: (row, fact) => {
    const { modelId } = fact.payload as PayloadOf<'ModelAnswered' | 'ModelCallFailed'>;
    const { id: session, tenant = null } = fact.key;
    const before = row ?? { session, tenant, modelId, calls: 0, failedCalls: 0, ...noUsage };
    if (fact.type === 'ModelCallFailed') return { ...before, failedCalls: before.failedCalls + 1 };
    const { session: _, tenant: __, modelId: ___, calls, failedCalls, ...spent } = before;
    const total = addUsage(usage.parse(spent), (fact.payload as PayloadOf<'ModelAnswered'>).usage);
    return { session, tenant, modelId, calls: calls + 1, failedCalls, ...total };
  },
};

/** The cost of a row in millionths of the price table's currency unit; `undefined` when the model has no price. */
export function costMicros(
  row: Pick<UsageRow, 'modelId' | 'inputTokens' | 'outputTokens'>,
  prices: Readonly<Record<string, ModelPrice>>,
): number | undefined {
  const price = Object.hasOwn(prices, row.modelId) ? prices[row.modelId] : undefined;
  if (price === undefined) return undefined;
  return Math.round((row.inputTokens * price.input + row.outputTokens * price.output) / 1_000_000);
}
