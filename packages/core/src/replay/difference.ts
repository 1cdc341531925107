import type { RecordedFact } from '@perdure/events';
import { canonicalJson } from '../session/canonical-json.js';
import type { DerivedFact } from './derive.js';
import type { ReplayDifference } from './replay.js';

/** How a recorded fact differs from the one that was derived in its place; `undefined` when it does not. */
export function firstDifference(
  recorded: RecordedFact,
  fact: { readonly type: string; readonly payload: unknown },
  derived: DerivedFact | undefined,
): ReplayDifference | undefined {
  const at = { revision: recorded.revision, type: fact.type };
  if (derived === undefined) return { ...at, path: '', recorded: fact.type, derived: 'nothing' };
  if (derived.type !== fact.type) {
    return {
      ...at,
      path: '',
      recorded: fact.type,
      derived: `${derived.type} ${canonicalJson(derived.payload)}`.slice(0, 200),
    };
  }
  const path = differingPath(fact.payload, derived.payload);
  if (path === undefined) return undefined;
  return { ...at, path: path.join('.'), recorded: shown(fact.payload, path), derived: shown(derived.payload, path) };
}

function differingPath(a: unknown, b: unknown): string[] | undefined {
  if (canonicalJson(a) === canonicalJson(b)) return undefined;
  if (!isContainer(a) || !isContainer(b) || Array.isArray(a) !== Array.isArray(b)) return [];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  for (const key of keys) {
    const path = differingPath(a[key], b[key]);
    if (path !== undefined) return [key, ...path];
  }
  return undefined;
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function shown(payload: unknown, path: readonly string[]): string {
  const value = path.reduce<unknown>((inner, key) => (isContainer(inner) ? inner[key] : undefined), payload);
  return (value === undefined ? 'nothing' : canonicalJson(value)).slice(0, 200);
}
