import { PerdureError } from '@perdure/plugin-api';
import type { SessionWork } from '../turn/session-work.js';
import type { AgentView } from '../host/agent-view.js';
import { missingVariables } from './host-changes.js';
import { currentTurn, type SessionState } from './session-state.js';

export interface MissingPart {
  readonly kind: 'model' | 'gate' | 'tool' | 'env';
  readonly id: string;
}

type MissingGround = Pick<SessionWork, 'journal' | 'agent' | 'variables'>;

/**
 * The parts that a session goes on without. Throws PERDURE_NOT_SUPPLIED when it has begun a turn with one of them, or
 * waits for a variable to be set to a value that is not here, and is not to go on without it.
 */
export function partsToGoWithout(
  work: MissingGround,
  withoutMissing: boolean | readonly string[],
): readonly MissingPart[] {
  const { state, key } = work.journal;
  const variables = missingVariables(state, work).map((id): MissingPart => ({ kind: 'env', id }));
  const missing = [...missingParts(state, work.agent()), ...variables];
  const mayLack = (id: string): boolean =>
    typeof withoutMissing === 'boolean' ? withoutMissing : withoutMissing.includes(id);
  const isWaitedFor = ({ kind }: MissingPart): boolean =>
    kind === 'env' && state.changes.some(({ change }) => change.kind === 'env');
  const hasBegun = (currentTurn(state)?.runs.length ?? 0) > 0;
  const first = missing.find((part) => !mayLack(part.id) && (hasBegun || isWaitedFor(part)));
  if (first !== undefined) throw new PerdureError('PERDURE_NOT_SUPPLIED', { session: key.id, ...first });
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
