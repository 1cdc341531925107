import type { Change, Variable } from '@perdure/events';
import type { SessionState } from './session-state.js';

/** The variables of a session: what its agent gave it, and its own, which come before those. Each by name. */
export interface SessionVariables {
  readonly agent: readonly Variable[];
  readonly session: readonly Variable[];
}

export type VariableChange = Extract<Change, { readonly kind: 'env' }>;

export const noVariables: SessionVariables = { agent: [], session: [] };

/** The variables behind a change. */
export function withVariables(before: SessionVariables, { scope, set, unset }: VariableChange): SessionVariables {
  const changed = new Set([...unset, ...set.map(({ name }) => name)]);
  const kept = before[scope].filter(({ name }) => !changed.has(name));
  return { ...before, [scope]: [...kept, ...set].sort(byName) };
}

/** The variables that tools are handed, by name. */
export function effectiveVariables({ agent, session }: SessionVariables): readonly Variable[] {
  if (session.length === 0) return agent;
  const own = new Set(session.map(({ name }) => name));
  return [...agent.filter(({ name }) => !own.has(name)), ...session].sort(byName);
}

/** The variables when everything that was asked for has been applied. */
export function projectedVariables({ env, changes }: Pick<SessionState, 'env' | 'changes'>): SessionVariables {
  let projected = env;
  for (const { change } of changes) if (change.kind === 'env') projected = withVariables(projected, change);
  return projected;
}

function byName(a: Variable, b: Variable): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
