import { randomUUID } from 'node:crypto';
import { BUDGET_GUARDS, definePlugin, EVENT_STORE, HOST_ENV, LOGGER } from '@perdure/plugin-api';
import { z } from 'zod';
import { TreeGuard } from './tree-guard.js';
import { version } from './version.js';

const micros = z.number().nonnegative();
const config = z.strictObject({
  /** What models cost, in millionths of a currency for a million tokens; see `Prices`. */
  prices: z
    .record(z.string().min(1), z.strictObject({ input: micros, output: micros, cached: micros.optional() }))
    .default({}),
  /** How long an answer may be, for agents that do not limit it themselves. */
  maxOutputTokens: z.int().positive().default(4_096),
  /** When less is left, an answer is asked for with what is left, down to this many tokens. */
  minOutputTokens: z.int().positive().default(256),
  /** The most calls for which a session holds budget at once. */
  blockCalls: z.int().positive().max(100).default(4),
});

/** Keeps trees of sessions within the limits that were set for them, on whatever nodes they run. */
export const policyBudget = definePlugin({
  name: 'policy-budget',
  api: 1,
  version,
  config: config.prefault({}),
  provides: [BUDGET_GUARDS],
  needs: [EVENT_STORE, HOST_ENV, LOGGER],
  setup: ({ config: rules, get, provide }) => {
    const env = get(HOST_ENV);
    const writer = { actor: { kind: 'node', id: env.nodeId } as const, now: () => env.clock.now() };
    // A process that is started again under the name of its node is another holder.
    const holder = `${env.nodeId}.${randomUUID()}`;
    const guard = new TreeGuard({ store: get(EVENT_STORE), holder, rules }, writer, get(LOGGER));
    provide(BUDGET_GUARDS, guard);
    return { stop: () => guard.stop() };
  },
});
