import type { CoreType, PayloadOf } from '@perdure/events';
import type { AgentView } from '../host/agent-view.js';
import type { SessionState } from '../session/session-state.js';

/**
 * The agent as it was when a fact was made: of several views the one whose policy the record names, with the hooks of
 * the session that its step had. What those answered is an input, so their names are enough.
 */
export class RecordedViews {
  private readonly withHooks = new Map<AgentView, Map<string, AgentView>>();
  private current: AgentView;

  constructor(private readonly agents: readonly [AgentView, ...AgentView[]]) {
    this.current = agents[0];
  }

  at(fact: { readonly type: CoreType; readonly payload: unknown }, state: SessionState): AgentView {
    const policy = policyOf(fact);
    if (policy !== undefined) this.current = this.agents.find((view) => view.policy === policy) ?? this.current;
    const started = fact.type === 'StepStarted' ? (fact.payload as PayloadOf<'StepStarted'>).setup : undefined;
    const gates = (started ?? state.setup)?.gates;
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
  if (type === 'StepStarted') return (payload as PayloadOf<'StepStarted'>).setup?.policy;
  return type === 'ToolCallDecided' ? (payload as PayloadOf<'ToolCallDecided'>).policy : undefined;
}
