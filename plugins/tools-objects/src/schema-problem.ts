import type { JsonValue } from '@perdure/events';

/** Characters of JSON, and levels of it. */
const LARGEST = 65_536;
const DEEPEST = 32;

/** Keywords that a text of a model could keep this process busy with, and those that lead elsewhere. */
const REFUSED: ReadonlySet<string> = new Set(['pattern', 'patternProperties', '$dynamicRef', '$recursiveRef']);

/** Why a schema that a model made is not worked with. */
export function schemaProblem(schema: Readonly<Record<string, JsonValue>>): string | undefined {
  if (JSON.stringify(schema).length > LARGEST) return `it has more than ${LARGEST} characters`;
  return problemIn(schema, 1);
}

function problemIn(value: JsonValue, depth: number): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > DEEPEST) return `it is deeper than ${DEEPEST} levels`;
  if (Array.isArray(value)) return firstProblem(value, depth);
  for (const [key, member] of Object.entries(value)) {
    // A property may have such a name; its value is a schema then, and no text.
    if (REFUSED.has(key) && (typeof member === 'string' || key === 'patternProperties')) return `it uses "${key}"`;
    if (key === '$ref' && typeof member === 'string' && !member.startsWith('#')) return 'it refers to another document';
  }
  return firstProblem(Object.values(value), depth);
}

function firstProblem(values: readonly JsonValue[], depth: number): string | undefined {
  for (const value of values) {
    const problem = problemIn(value, depth + 1);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
