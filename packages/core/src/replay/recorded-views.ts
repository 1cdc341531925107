import type { CoreType, PayloadOf } from '@perdure/events';
import type { AgentView } from '../host/agent-view.js';
import type { SessionState } from '../session/session-state.js';

/**
 * The agent as it was when a fact was made: of several views the one whose policy and tools the record names, with the
 * hooks of the session that its step had. What those answered is an input, so their names are enough.
 */
export class RecordedViews {
  private readonly withHooks = new Map<AgentView, Map<string, AgentView>>();
  private current: AgentView;

  constructor(private readonly agents: readonly [AgentView, ...AgentView[]]) {
    this.current = agents[0];
  }

  at(fact: { readonly type: CoreType; readonly payload: unknown }, state: SessionState): AgentView {
    const policy = policyOf(fact);
    const started = fact.type === 'StepStarted' ? (fact.payload as PayloadOf<'StepStarted'>).setup : undefined;
    const setup = started ?? state.setup;
    if (policy !== undefined) {
      const alike = this.agents.filter((view) => view.policy === policy);
      const hasTools = (view: AgentView): boolean =>
        view.toolSet(state.identity?.workspace).digest === setup?.tools.digest;
      this.current = (alike.length > 1 ? alike.find(hasTools) : undefined) ?? alike[0] ?? this.current;
    }
    const gates = setup?.gates;
    return gates === undefined ? this.current : this.viewWith(gates);
  }

  private viewWith(gates: readonly string[]): AgentView {
    const key = gates.join('\n');
    const known = this.withHooks.get(this.current) ?? new Map<string, AgentView>();
    this.withHooks.set(this.current, known);
    const view = known.get(key) ?? this.current.withRecordedHooks(gates);
    known.set(key, view);
    return view;
  }
}

/** Digest of the gates and rules that a fact was made with, where it says so. */
function policyOf({ type, payload }: { readonly type: CoreType; readonly payload: unknown }): string | undefined {
  switch (type) {
    case 'StepStarted':
      return (payload as PayloadOf<'StepStarted'>).setup?.policy;
    case 'ApprovalRequested':
    case 'ToolCallDecided':
      return (payload as PayloadOf<'ApprovalRequested' | 'ToolCallDecided'>).policy;
    default:
      return undefined;
  }
}
