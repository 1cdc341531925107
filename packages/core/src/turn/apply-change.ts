import { errorMessage, isPerdureError } from '@perdure/plugin-api';
import type { Composer } from '../compose/composer.js';
import type { AgentView } from '../host/agent-view.js';
import type { FactBatch } from '../session/fact-batch.js';
import type { PendingChange } from '../session/session-state.js';
import { NODE, scopeOf } from './record-intent.js';

/**
 * Lets a requested change take effect at a step boundary. One that cannot is answered with its reason; none is lost.
 */
export function applyChange(
  batch: FactBatch,
  { changeId, change }: PendingChange,
  agent: AgentView,
  composer: Composer,
): void {
  const scope = scopeOf(batch);
  if (change.kind === 'model') {
    const failure = modelFailure(change.model, agent);
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
      const { blocks } = composer.compile(agent, state.identity?.workspace);
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

function modelFailure(name: string, agent: AgentView): { readonly code: string; readonly message: string } | undefined {
  try {
    agent.model(name);
    return undefined;
  } catch (error) {
    if (!isPerdureError(error)) throw error;
    return { code: error.code, message: error.message };
  }
}
