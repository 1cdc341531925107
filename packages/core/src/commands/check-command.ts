import type { PerdureError, SlashCommand } from '@perdure/plugin-api';

export const COMMAND_NAME = /^[a-z][\w-]{0,63}$/i;

/** Checks a command that a host or a plugin brings. Throws what `fail` makes of a bad member. */
export function checkCommand(
  command: SlashCommand,
  fail: (field: string, reason: string) => Error | PerdureError,
): void {
  const { name, description, handler, timeoutMs }: Record<keyof SlashCommand, unknown> = { timeoutMs: 0, ...command };
  if (typeof name !== 'string' || !COMMAND_NAME.test(name)) {
    throw fail('name', 'it is a letter, then letters, digits, "-" and "_"; at most 64');
  }
  if (typeof description !== 'string') throw fail('description', 'it is a text');
  if (typeof handler !== 'function') throw fail('handler', 'it is a function');
  if (command.timeoutMs === undefined) return;
  if (!Number.isSafeInteger(timeoutMs) || Number(timeoutMs) < 1 || Number(timeoutMs) > 3_600_000) {
    throw fail('timeoutMs', 'it is a whole number of milliseconds from 1 to 3,600,000');
  }
}
