import { PerdureError } from '@perdure/plugin-api';
import type { AgentView } from '../host/agent-view.js';
import { currentTurn, type SessionState } from './session-state.js';

export interface MissingPart {
  readonly kind: 'model' | 'gate' | 'tool';
  readonly id: string;
}

/**
 * The parts that a session goes on without. Throws PERDURE_NOT_SUPPLIED when it has begun a turn with one of them and
 * is not to go on without it.
 */
export function partsToGoWithout(
  state: SessionState,
  agent: AgentView,
  session: string,
  withoutMissing: boolean | readonly string[],
): readonly MissingPart[] {
  const missing = missingParts(state, agent);
  const mayLack = (id: string): boolean =>
    typeof withoutMissing === 'boolean' ? withoutMissing : withoutMissing.includes(id);
  const first = missing.find(({ id }) => !mayLack(id));
  if (first !== undefined && currentTurn(state)?.runs.length) {
    throw new PerdureError('PERDURE_NOT_SUPPLIED', { session, kind: first.kind, id: first.id });
  }
  return missing;
}

/** What the last step of a session relied on and an agent does not have. */
function missingParts(state: SessionState, agent: AgentView): readonly MissingPart[] {
  const { setup } = state;
  if (setup === undefined) return [];
  const tools = agent.toolSet(state.identity?.workspace).tools;
  const missing = <Kind extends MissingPart['kind']>(
    kind: Kind,
    ids: readonly string[],
    has: (id: string) => boolean,
  ) => ids.filter((id) => !has(id)).map((id) => ({ kind, id }));
  return [
    ...missing('model', [setup.model.name], (id) => agent.parts.models.has(id)),
    ...missing('gate', setup.gates, (id) => agent.gateIds.includes(id)),
    ...missing('tool', setup.tools.names, (id) => tools.has(id)),
  ];
}
