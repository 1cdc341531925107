import type { JsonValue } from '@perdure/events';
import { jsonText } from './json-text.js';
import { visibleLine } from './visible.js';

/** A call in a few words: the tool, and the first text among its arguments, else all of them. */
export function callLabel(tool: string, input: JsonValue | undefined, width: number): string {
  const argument = firstText(input) ?? (input === undefined || isEmpty(input) ? '' : jsonText(input));
  return visibleLine(`${tool} ${argument}`.trimEnd(), width);
}

function firstText(input: JsonValue | undefined): string | undefined {
  if (typeof input === 'string') return input;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  return Object.values(input).find((value): value is string => typeof value === 'string' && value !== '');
}

function isEmpty(input: JsonValue): boolean {
  return input === null || (typeof input === 'object' && Object.keys(input).length === 0);
}
