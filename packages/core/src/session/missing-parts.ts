import type { AgentView } from '../host/agent-view.js';
import type { SessionState } from './session-state.js';

export interface MissingPart {
  readonly kind: 'model' | 'gate' | 'tool';
  readonly id: string;
}

/** What the last step of a session relied on and an agent does not have. */
export function missingParts(state: SessionState, agent: AgentView): readonly MissingPart[] {
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
