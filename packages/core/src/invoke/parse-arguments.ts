import type { JsonValue } from '@perdure/events';

/** Nested deeper than this, arguments are no arguments of a tool, and would exhaust the stack of what looks at them. */
const DEEPEST = 128;

/**
 * The arguments of a call from their text. `undefined` when they are no JSON that can be kept: nested too deeply, or
 * with a number that JSON cannot hold and that would come back as `null`.
 */
export function parseArguments(text: string): { readonly value: JsonValue } | undefined {
  if (text.trim() === '') return { value: {} };
  try {
    const value = JSON.parse(text) as JsonValue;
    return isKept(value, DEEPEST) ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function isKept(value: JsonValue, room: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return true;
  if (room === 0) return false;
  return Object.values(value).every((member) => isKept(member as JsonValue, room - 1));
}
