import type { ApprovalMode, SessionProfile } from '@perdure/events';
import { PerdureError, type AgentDefinition } from '@perdure/plugin-api';
import type { AgentView } from '../host/agent-view.js';
import type { SessionState } from '../session/session-state.js';
import { modeUnder } from './cap-children.js';
import { distinct, ownRules } from './layered-policy.js';
import { stricterMode } from './stricter.js';

/** A definition by its name. Throws PERDURE_CHILD_AGENT_UNKNOWN. */
export function definitionOf(agent: AgentView, name: string): AgentDefinition {
  const definition = agent.definitions.find((other) => other.name === name);
  if (definition === undefined) throw new PerdureError('PERDURE_CHILD_AGENT_UNKNOWN', { agent: name });
  return definition;
}

/**
 * What narrows the agent for a session that is handed work: all that narrows the one that hands it on, its rules as
 * they are, and what the definition takes away. It is data, and holds wherever the session is run.
 */
export function profileUnder(
  definition: AgentDefinition,
  agent: AgentView,
  state: Pick<SessionState, 'identity' | 'approvals' | 'approvalCap' | 'changes'>,
): SessionProfile {
  const { approvalCap, approval } = agent.parts;
  const { identity, approvals } = state;
  const mode = modeUnder(state, stricterMode(approvalCap, approvals ?? approval?.mode ?? 'ask'));
  const { handed } = definition;
  const profile = makeProfile(definition, agent, identity?.profile, stricterMode(definition.approvals, mode));
  return handed === undefined ? profile : { ...profile, instruction: [handed, ...profile.instruction] };
}

/** What narrows the agent for a session that nobody hands work to. */
export function profileOf(definition: AgentDefinition, agent: AgentView): SessionProfile {
  return makeProfile(definition, agent, undefined, definition.approvals);
}

function makeProfile(
  definition: AgentDefinition,
  agent: AgentView,
  above: SessionProfile | undefined,
  approvals: ApprovalMode | undefined,
): SessionProfile {
  const { name, instruction, tools, permission, limits, readOnly } = definition;
  const { permission: policy } = agent.parts;
  const own = permission === undefined ? [] : [permission];
  // Rules that are not valid are told of before anything is stored.
  for (const rules of own) {
    if (policy?.ofRules === undefined) {
      const reason = 'the permission policy takes no rules of others';
      throw new PerdureError('PERDURE_CONFIGURATION', { field: `agents.${name}.permission`, reason });
    }
    policy.ofRules(rules);
  }
  const steps = [above?.maxSteps, limits?.maxSteps].filter((most) => most !== undefined);
  const told = typeof instruction === 'string' ? [instruction] : (instruction ?? agent.parts.instruction);
  return {
    agent: name,
    instruction: [...told],
    ...(readOnly === true || agent.parts.readOnly ? { readOnly: true } : {}),
    tools: distinct([...(above?.tools ?? []), ...(tools === undefined ? [] : [[...tools]])]),
    rules: distinct([...ownRules(policy), ...own]),
    ...(approvals === undefined ? {} : { approvals }),
    ...(steps.length === 0 ? {} : { maxSteps: Math.min(...steps) }),
  };
}
