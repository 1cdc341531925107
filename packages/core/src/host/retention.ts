import type { Logger, PerdureError, SessionRetentionLimits } from '@perdure/plugin-api';
import { z } from 'zod';

const positive = z.int().positive().exactOptional();
const shape = z.strictObject({
  maxRunsRetained: positive,
  maxEventsPerRun: positive,
  maxEventBytesPerRun: positive,
  maxTraceEvents: positive,
  maxTerminalSubagentTasks: positive,
});

/** Members that bound something that sessions do not have. */
const WITHOUT_SUBJECT = ['maxTraceEvents', 'maxTerminalSubagentTasks'] as const;

/** Checks limits from outside; members that are `undefined` are absent. Throws what `fail` makes of a bad one. */
export function resolveRetention(
  limits: SessionRetentionLimits | undefined,
  fail: (field: string, reason: string) => PerdureError,
): SessionRetentionLimits {
  if (limits === undefined) return {};
  if (typeof limits !== 'object' || limits === null) throw fail('retentionLimits', 'it is an object');
  const given = Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
  const checked = shape.safeParse(given);
  if (checked.success) return checked.data;
  const issue = checked.error.issues[0];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const field = ['retentionLimits', ...(issue?.path ?? []), ...(unknown === undefined ? [] : [unknown])].join('.');
  throw fail(field, unknown === undefined ? 'it is a whole number from 1 on' : 'there is no such limit');
}

/** Tells the operator of limits that bound nothing. */
export function warnOfIdleLimits(limits: SessionRetentionLimits, of: string, logger: Logger): void {
  for (const field of WITHOUT_SUBJECT) {
    if (limits[field] === undefined) continue;
    logger.log('warn', 'A retention limit bounds nothing: sessions keep nothing of that kind.', { field, of });
  }
}
