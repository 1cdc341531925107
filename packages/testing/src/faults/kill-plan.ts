import { PerdureError } from '@perdure/plugin-api';
import { z } from 'zod';

/** The places at which a wrapper lets the process die. */
export const killPointNames = [
  'append:before',
  'append:after',
  'truncate:before',
  'truncate:after',
  'model:before',
  'model:mid-stream',
  'model:after',
  'tool:before',
  'tool:after',
  'reconcile:before',
  'reconcile:after',
  'gate:before',
  'gate:after',
  'hook:before',
  'hook:after',
  'ask:before',
  'ask:after',
] as const;

/**
 * One place in the course of a process, as data.
 *
 * `match` is a fact type of the batch, or all of them joined by `+`; the model id; the tool's name; the gate's or
 * hook's id. `category` is that of the stream. `occurrence` counts, from 1, the passings that `point`, `match` and
 * `category` fit.
 */
const killPoint = z.strictObject({
  point: z.enum(killPointNames),
  match: z.string().exactOptional(),
  category: z.string().exactOptional(),
  occurrence: z.int().positive(),
});
export type KillPoint = z.output<typeof killPoint>;
export type KillPointName = KillPoint['point'];

/** The process comes by a point. `labels` are what `match` is compared with. */
export interface KillPointPassing {
  readonly point: KillPointName;
  readonly labels: readonly string[];
  readonly category?: string;
}

/** What the wrappers tell where the process is. One plan is shared by all wrappers of a process: it counts. */
export interface KillPlan {
  pass(passing: KillPointPassing): void;
}

/**
 * A plan that kills nothing and lists the points that were passed, each as one that `killAt` would meet there again.
 */
export interface KillPointRecorder extends KillPlan {
  readonly passed: readonly KillPoint[];
}

/**
 * A plan by which the process ends itself with SIGKILL at one point, so that nothing of it runs on: no `finally`, no
 * exit handler, no pending write. Throws PERDURE_CONFIGURATION for a point that is not one.
 */
export function killAt(target: KillPoint): KillPlan {
  const parsed = killPoint.safeParse(target);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = ['killPoint', ...(issue?.path ?? []).map(String)].join('.');
    throw new PerdureError('PERDURE_CONFIGURATION', { field, reason: issue?.message ?? 'not a kill point' });
  }
  let occurrences = 0;
  return {
    pass(passing) {
      if (fitsPassing(parsed.data, passing) && ++occurrences === parsed.data.occurrence) endProcess();
    },
  };
}

export function recordKillPoints(): KillPointRecorder {
  const passed: KillPoint[] = [];
  const counts = new Map<string, number>();
  return {
    passed,
    pass(passing) {
      for (const key of fittingTargets(passing)) counts.set(key, (counts.get(key) ?? 0) + 1);
      const { point, labels, category } = passing;
      const match = labels.length === 0 ? {} : { match: labels.join('+') };
      const target = { point, ...match, ...(category === undefined ? {} : { category }) };
      passed.push({ ...target, occurrence: counts.get(targetKey(target)) ?? 1 });
    },
  };
}

/** Whether a target means this passing. */
export function fitsPassing(target: Omit<KillPoint, 'occurrence'>, passing: KillPointPassing): boolean {
  return target.point === passing.point && fitsLabels(target, passing.labels, passing.category);
}

/** Whether a wanted label and category are those of what happens. */
export function fitsLabels(
  wanted: { readonly match?: string | undefined; readonly category?: string | undefined },
  labels: readonly string[],
  category: string | undefined,
): boolean {
  if (wanted.category !== undefined && wanted.category !== category) return false;
  return wanted.match === undefined || wanted.match === labels.join('+') || labels.includes(wanted.match);
}

/** All targets that a passing fits, so that each can be counted without a look back. */
function fittingTargets({ point, labels, category }: KillPointPassing): ReadonlySet<string> {
  const matches = [undefined, labels.join('+'), ...labels];
  return new Set(matches.flatMap((match) => [targetKey({ point, match }), targetKey({ point, match, category })]));
}

function targetKey(target: {
  readonly point: string;
  readonly match?: string | undefined;
  readonly category?: string | undefined;
}): string {
  return JSON.stringify([target.point, target.match, target.category]);
}

/** The signal does not wait for JavaScript, and should it ever be late, this thread does nothing more. */
function endProcess(): never {
  process.kill(process.pid, 'SIGKILL');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  throw new Error('The process outlived SIGKILL.');
}
