import type { ActivePlugin, Change } from '@perdure/events';
import { isSamePlugins } from '../host/same-plugins.js';
import type { SessionWork } from '../turn/session-work.js';
import { requestChange } from './accept-input.js';
import type { FactBatch } from './fact-batch.js';
import type { Journal } from './journal.js';
import type { LoadedSession } from './loaded-session.js';
import { currentTurn, type SessionState } from './session-state.js';
import { effectiveVariables, projectedVariables } from './variables.js';

/**
 * Asks for what the host has and the session was not told of: the agent's variables and those that came with the
 * session's options, and the agent's plugins. Nothing is asked for twice.
 */
export function addHostChanges(batch: FactBatch, { key, env, variables, agent, newestAgent }: SessionWork): void {
  const { state } = batch;
  if (state.newer !== undefined || state.identity === undefined) return;
  const request = (change: Change): void => {
    requestChange(batch, key.id, env.idGenerator.next(`${key.id}-${state.ownership.epoch}-change`), change);
  };
  const projected = projectedVariables(state);
  const ofAgent = variables.ofAgent();
  const set = Object.entries(ofAgent).flatMap(([name, value]) => {
    const variable = variables.variable(name, value, projected.agent);
    return projected.agent.includes(variable) ? [] : [variable];
  });
  const unset = projected.agent.filter(({ name }) => ofAgent[name] === undefined).map(({ name }) => name);
  if (set.length + unset.length > 0) request({ kind: 'env', scope: 'agent', set, unset });
  const own = [...variables.unasked].flatMap((name) => {
    const value = variables.ofSession(name);
    if (value === undefined) return [];
    const variable = variables.variable(name, value, projected.session);
    return projected.session.includes(variable) ? [] : [variable];
  });
  if (own.length > 0) request({ kind: 'env', scope: 'session', set: own, unset: [] });
  const { plugins } = newestAgent().parts;
  const isServed = isSamePlugins(agent(state).parts.plugins, state.plugins ?? []);
  // What this process cannot serve a session with is told by its next run.
  if (isServed && !isSamePlugins(projectedPlugins(state), plugins)) {
    request({ kind: 'plugins', plugins: [...plugins] });
  }
}

/** The same in a commit of its own. */
export async function askForHostChanges(work: SessionWork): Promise<void> {
  const names = [...work.variables.unasked];
  await work.journal.commit((batch) => addHostChanges(batch, work), 'input');
  for (const name of names) work.variables.unasked.delete(name);
}

/**
 * Has a session that is in memory go over to what its agent has become. Resolves when that is asked for; with a session
 * at rest, when it is done. One that another node runs is left to that node.
 */
export async function followHost(loaded: LoadedSession): Promise<void> {
  const { journal } = loaded.work;
  if (!loaded.isOwner && journal.state.ownership.owner !== undefined) return;
  await askForHostChanges(loaded.work);
  await loaded.runIfSupplied();
  if (loaded.isOwner) await changesAtRest(journal, loaded.over);
}

/** Resolves when no change waits, or something else than the session's rest decides how long they wait. */
export function changesAtRest(journal: Journal, over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      const { changes } = journal.state;
      if (changes.length > 0 && currentTurn(journal.state) === undefined && !over.aborted) return;
      forget();
      over.removeEventListener('abort', look);
      resolve();
    };
    const forget = journal.onCommit(look);
    over.addEventListener('abort', look);
    look();
  });
}

/** Names of variables that a session has or waits for, and that this process has no value for. */
export function missingVariables(
  state: SessionState,
  { variables }: Pick<SessionWork, 'variables'>,
): readonly string[] {
  const ofAgent = variables.ofAgent();
  const both = [state.env, projectedVariables(state)].flatMap(effectiveVariables);
  const missing = both.filter((variable) => {
    const { name } = variable;
    // Another value that the host has is asked for when the session is taken.
    const isReplaced = variables.unasked.has(name) || ofAgent[name] !== undefined;
    return !isReplaced && variables.valueOf(variable) === undefined;
  });
  return [...new Set(missing.map(({ name }) => name))];
}

function projectedPlugins({ plugins = [], changes }: SessionState): readonly ActivePlugin[] {
  const last = changes.findLast(({ change }) => change.kind === 'plugins')?.change;
  return last?.kind === 'plugins' ? last.plugins : plugins;
}
