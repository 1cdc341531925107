import type { HostEnv, Logger, Placement, PluginLike } from '@perdure/plugin-api';
import { PerdureError } from '@perdure/plugin-api';
import { z } from 'zod';
import { consoleLogger } from './console-logger.js';
import { systemHostEnv } from './system-host-env.js';

/** What a host may say of a runtime. It is a patch: merged with the defaults, checked once, and read nowhere else. */
export interface RuntimeOptions {
  readonly plugins?: readonly PluginLike[];
  /** The folder from which plugin packages are looked for; the current one when absent. */
  readonly pluginRoot?: string;
  readonly env?: Partial<HostEnv>;
  readonly logger?: Logger;
  /** Values that models, facts, streams and logs must never see, by the name they are referred to by. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Milliseconds without a renewal after which this node counts as dead; 10,000 when absent. */
  readonly leaseTtlMs?: number;
  /** Milliseconds that calls may still run when a session is let go; 5,000 when absent. */
  readonly closeGraceMs?: number;
  /**
   * Milliseconds after which a session that only waits for people, and that nobody in this process uses or watches, is
   * released and leaves memory; 5,000 when absent.
   */
  readonly waitingGraceMs?: number;
  /**
   * Milliseconds after which a session without a turn that nobody in this process uses or watches is released and
   * leaves memory; its handles load it again. 60,000 when absent.
   */
  readonly idleGraceMs?: number;
  /**
   * Whether this process looks after sessions that no process has: it answers what has expired, and goes on with those
   * of its agents that have work and no owner that lives. Without it, sessions that wait or are idle stay in memory
   * too. `true` when absent; programs that end soon turn it off.
   */
  readonly keepsSessions?: boolean;
  /** Which of the sessions that have work and no owner this node takes; all when absent. */
  readonly placement?: Placement;
  /**
   * Milliseconds that a session which runs here waits for a store that cannot be reached. Then its turns are told that
   * they are suspended, and it is given back as soon as the store can be reached; 600,000 when absent.
   */
  readonly storePatienceMs?: number;
  /** Milliseconds in which a plugin must be set up, and as many in which it must be started; 30,000 when absent. */
  readonly pluginTimeoutMs?: number;
  /** Milliseconds in which a plugin must stop; 10,000 when absent. */
  readonly pluginStopMs?: number;
  /** Prices by model id, in millionths of a currency unit per million tokens, for the usage projection. */
  readonly prices?: Readonly<Record<string, ModelPrice>>;
}

export interface ModelPrice {
  readonly input: number;
  readonly output: number;
}

/** A runtime's options, whole and checked. */
export interface RuntimeConfig {
  readonly plugins: readonly PluginLike[];
  readonly pluginRoot: string;
  readonly env: HostEnv;
  readonly logger: Logger;
  readonly secrets: Readonly<Record<string, string>>;
  readonly leaseTtlMs: number;
  readonly closeGraceMs: number;
  readonly waitingGraceMs: number;
  readonly idleGraceMs: number;
  readonly keepsSessions: boolean;
  readonly placement: Placement;
  readonly storePatienceMs: number;
  readonly pluginTimeoutMs: number;
  readonly pluginStopMs: number;
  readonly prices: Readonly<Record<string, ModelPrice>>;
}

const scalars = z.strictObject({
  leaseTtlMs: z.int().min(100).max(3_600_000),
  closeGraceMs: z.int().min(0).max(3_600_000),
  waitingGraceMs: z.int().min(0).max(3_600_000),
  idleGraceMs: z.int().min(0).max(86_400_000),
  keepsSessions: z.boolean(),
  placement: z.strictObject({
    capacity: z.int().positive().exactOptional(),
    preferenceMs: z.int().min(0).max(3_600_000).exactOptional(),
    onRunnable: z.custom<NonNullable<Placement['onRunnable']>>(isFunction, 'it is a function').exactOptional(),
  }),
  storePatienceMs: z.int().min(0).max(86_400_000),
  pluginTimeoutMs: z.int().min(1).max(3_600_000),
  pluginStopMs: z.int().min(1).max(3_600_000),
  prices: z.record(z.string(), z.strictObject({ input: z.number().nonnegative(), output: z.number().nonnegative() })),
});

/** Merges patches, the later over the earlier, and checks the result. Throws PERDURE_CONFIGURATION naming the field. */
export function resolveRuntimeOptions(...patches: readonly RuntimeOptions[]): RuntimeConfig {
  const merged = Object.assign({}, ...patches.map(withoutUndefined)) as RuntimeOptions;
  if (!Array.isArray(merged.plugins ?? [])) throw configuration('plugins', 'it is a list');
  const checked = scalars.safeParse({
    leaseTtlMs: merged.leaseTtlMs ?? 10_000,
    closeGraceMs: merged.closeGraceMs ?? 5_000,
    waitingGraceMs: merged.waitingGraceMs ?? 5_000,
    idleGraceMs: merged.idleGraceMs ?? 60_000,
    keepsSessions: merged.keepsSessions ?? true,
    placement: merged.placement ?? {},
    storePatienceMs: merged.storePatienceMs ?? 600_000,
    pluginTimeoutMs: merged.pluginTimeoutMs ?? 30_000,
    pluginStopMs: merged.pluginStopMs ?? 10_000,
    prices: merged.prices ?? {},
  });
  if (!checked.success) {
    const issue = checked.error.issues[0];
    throw configuration(issue?.path.join('.') ?? '', issue?.message ?? 'not valid');
  }
  const known = ['plugins', 'pluginRoot', 'env', 'logger', 'secrets', ...Object.keys(scalars.shape)];
  const unknown = Object.keys(merged).find((key) => !known.includes(key));
  if (unknown !== undefined) throw configuration(unknown, 'there is no such option');
  const env: HostEnv = { ...systemHostEnv(), ...merged.env };
  if (env.nodeId === '') throw configuration('env.nodeId', 'it is empty');
  return {
    plugins: merged.plugins ?? [],
    pluginRoot: merged.pluginRoot ?? process.cwd(),
    env,
    logger: merged.logger ?? consoleLogger(),
    secrets: merged.secrets ?? {},
    ...checked.data,
  };
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}

function withoutUndefined(patch: RuntimeOptions = {}): RuntimeOptions {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) {
    throw configuration('options', 'they are an object');
  }
  return Object.fromEntries(Object.entries(patch).filter(([, value]) => value !== undefined));
}

function configuration(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field, reason });
}
