import { PerdureError, type DrainOptions, type DrainReport } from '@perdure/plugin-api';
import { z } from 'zod';
import type { RuntimeAgent } from '../host/agent.js';
import type { NodeLease } from '../session/node-lease.js';

const shape = z.strictObject({
  graceMs: z.int().min(0).max(86_400_000).default(30_000),
  reason: z.string().min(1).max(1_000).default('the node is drained'),
});
export type CheckedDrain = z.output<typeof shape>;

/** Throws PERDURE_INPUT_INVALID naming the field. */
export function checkDrainOptions(options: DrainOptions): CheckedDrain {
  const parsed = shape.safeParse(options);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  throw new PerdureError('PERDURE_INPUT_INVALID', { field: field || 'options', reason: issue?.message ?? '' });
}

/**
 * Has all sessions leave this node: it takes no more, and each that it has goes at the end of its step, or at the
 * deadline. Repeated, it sees to sessions that were being taken meanwhile.
 */
export async function drainNode(
  lease: NodeLease,
  agents: ReadonlyMap<string, RuntimeAgent>,
  { graceMs, reason }: CheckedDrain,
): Promise<DrainReport> {
  lease.drain();
  // A deadline is a time of the world, as it may be read on another machine.
  const deadlineMs = Math.round(performance.timeOrigin + performance.now()) + graceMs;
  const report = { handedOver: 0, cut: 0, idle: 0 };
  for (;;) {
    const outcomes = await Promise.all(Array.from(agents.values(), (agent) => agent.vacate(reason, deadlineMs)));
    const left = outcomes.flat();
    for (const outcome of left) report[outcome] += 1;
    if (left.length === 0) return report;
  }
}
