import type { ActivePlugin, Failure } from '@perdure/events';
import { errorMessage, isPerdureError } from '@perdure/plugin-api';
import type { Composer } from '../compose/composer.js';
import type { AgentView } from '../host/agent-view.js';
import type { VariableValues } from '../host/variable-values.js';
import type { FactBatch } from '../session/fact-batch.js';
import type { PendingChange } from '../session/session-state.js';
import { NODE, scopeOf } from './record-intent.js';

/** What a change is applied with. Where values and plugins are inputs, as in a replay, nobody is asked for them. */
export interface ChangeGround {
  readonly agent: AgentView;
  readonly composer: Composer;
  readonly variables?: VariableValues;
  /** Why a model was refused, where that is an input: which models there are only its process knew. */
  readonly modelRefusal?: () => Failure | undefined;
  /** Whether this process can serve the session with these plugins. */
  readonly servesPlugins?: (plugins: readonly ActivePlugin[]) => boolean;
}

/**
 * Lets a requested change take effect at a step boundary. One that cannot is answered with its reason; none is lost.
 */
export function applyChange(
  batch: FactBatch,
  { changeId, change }: PendingChange,
  { agent, composer, variables, modelRefusal, servesPlugins }: ChangeGround,
  session: string,
): void {
  const scope = scopeOf(batch);
  if (change.kind === 'env') {
    const lacking = change.set.find((variable) => variables?.valueOf(variable) === undefined);
    const failure = lacking && notSupplied('env', lacking.name, session);
    return batch.add('ChangeApplied', { changeId, ...(failure && { failure }) }, scope, NODE);
  }
  if (change.kind === 'plugins') {
    const isServed = servesPlugins?.(change.plugins) ?? true;
    if (isServed) batch.add('PluginSetChanged', { plugins: change.plugins }, scope, NODE);
    const names = change.plugins.map(({ name }) => name).join(', ');
    const failure = isServed ? undefined : notSupplied('plugins', names, session);
    return batch.add('ChangeApplied', { changeId, ...(failure && { failure }) }, scope, NODE);
  }
  if (change.kind === 'model') {
    const failure = modelRefusal === undefined ? modelFailure(change.model, agent) : modelRefusal();
    return batch.add('ChangeApplied', { changeId, ...(failure && { failure }) }, scope, NODE);
  }
  if (change.kind === 'clear' || change.kind === 'approvals') {
    return batch.add('ChangeApplied', { changeId }, scope, NODE);
  }
  if (change.kind === 'title') {
    batch.add('SessionTitled', { title: change.title, by: 'host', changeId }, scope, NODE);
    return batch.add('ChangeApplied', { changeId }, scope, NODE);
  }
  if (change.kind === 'system') {
    const { state } = batch;
    const wasFrozen = state.system !== undefined;
    // A session that follows its agent has nothing to refresh.
    if (change.action !== 'refresh' || wasFrozen) {
      const { blocks } = composer.compile(agent, state.identity);
      const frozen = change.action === 'follow' ? {} : { blocks: blocks.map((block) => ({ ...block })) };
      batch.add('SystemSnapshotTaken', { changeId, ...frozen }, scope, NODE);
    }
    return batch.add('ChangeApplied', { changeId }, scope, NODE);
  }
  const code = 'PERDURE_INTERNAL';
  return batch.add(
    'ChangeApplied',
    { changeId, failure: { code, message: errorMessage(code, { reason: change.kind }) } },
    scope,
    NODE,
  );
}

function notSupplied(kind: string, id: string, session: string): Failure {
  const code = 'PERDURE_NOT_SUPPLIED';
  return { code, message: errorMessage(code, { session, kind, id }) };
}

function modelFailure(name: string, agent: AgentView): Failure | undefined {
  try {
    agent.model(name);
    return undefined;
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}
