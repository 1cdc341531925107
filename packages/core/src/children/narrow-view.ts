import type { PayloadOf, ReadFact, SessionProfile } from '@perdure/events';
import type { Tools } from '@perdure/plugin-api';
import { AgentView, type Governance } from '../host/agent-view.js';
import { LayeredPolicy } from './layered-policy.js';
import { stricterMode } from './stricter.js';

const narrowed = new WeakMap<SessionProfile, { readonly of: AgentView; readonly view: AgentView }>();

/** The agent as a session has it: with a profile, narrowed by that. The same one for the same agent. */
export function viewOfSession(agent: AgentView, profile: SessionProfile | undefined): AgentView {
  if (profile === undefined) return agent;
  const known = narrowed.get(profile);
  if (known?.of === agent) return known.view;
  const view = narrow(agent, profile);
  narrowed.set(profile, { of: agent, view });
  return view;
}

function narrow({ parts }: AgentView, profile: SessionProfile): AgentView {
  const { instruction, readOnly = false, tools: lists, rules, approvals, maxSteps } = profile;
  const { approvalCap } = parts;
  const cap = approvals === undefined ? approvalCap : stricterMode(approvalCap, approvals);
  return new AgentView({
    ...parts,
    instruction,
    readOnly: parts.readOnly || readOnly,
    tools: allowed(parts.tools, lists),
    toolSources: parts.toolSources.map(({ name, ...source }) => ({
      name,
      tools: (context) => allowed(source.tools(context), lists),
    })),
    permission: rules.length === 0 ? parts.permission : new LayeredPolicy(parts.permission, rules),
    limits: { ...parts.limits, maxSteps: Math.min(parts.limits.maxSteps, maxSteps ?? Number.POSITIVE_INFINITY) },
    ...(cap === undefined ? {} : { approvalCap: cap }),
  });
}

function allowed(tools: Tools, lists: readonly (readonly string[])[]): Tools {
  const isAllowed = (name: string): boolean => lists.every((list) => list.some((entry) => fits(name, entry)));
  return Object.fromEntries(Object.entries(tools).filter(([name]) => isAllowed(name)));
}

function fits(name: string, entry: string): boolean {
  return entry.endsWith('*') ? name.startsWith(entry.slice(0, -1)) : name === entry;
}

/** What narrows the agent of a session, by the session's first fact. */
export function profileOfFirst({ type, payload }: ReadFact): SessionProfile | undefined {
  return type === 'SessionCreated' ? (payload as PayloadOf<'SessionCreated'>).profile : undefined;
}

/** The agent as a session had it, governed as it is and as it was at other times. */
export function viewsToReplay(
  { parts }: AgentView,
  governance: readonly Governance[],
  profile: SessionProfile | undefined,
): [AgentView, ...AgentView[]] {
  const as = (other: Governance): AgentView => {
    const view = new AgentView({ ...parts, ...other });
    return profile === undefined ? view : narrow(view, profile);
  };
  return [as({}), ...governance.map(as)];
}
