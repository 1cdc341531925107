import type { CoreType, PayloadOf } from '@perdure/events';
import type { HostEnv } from '@perdure/plugin-api';
import type { Composer } from '../compose/composer.js';
import type { AgentView } from '../host/agent-view.js';
import { decideCall, type AskGate } from '../invoke/decide-call.js';
import { BUDGET_GATE } from '../invoke/gates/budget-gate.js';
import type { Redaction } from '../secrets/redaction.js';
import { FactBatch } from '../session/fact-batch.js';
import type { CallState } from '../session/call-state.js';
import type { SessionState } from '../session/session-state.js';
import { currentTurn } from '../session/session-state.js';
import { applyChange } from '../turn/apply-change.js';
import { compactedPayload } from '../turn/compact-history.js';
import { nextIntent, isFactIntent } from '../turn/decider.js';
import { invocationContextOf } from '../turn/invocation-context-of.js';
import { NODE, recordDecision, recordIntentOrEnd } from '../turn/record-intent.js';
import { IN_REPLAY } from './inputs.js';

export interface DerivedFact {
  readonly type: string;
  readonly payload: unknown;
}

export interface ReplayContext {
  readonly session: string;
  readonly agent: AgentView;
  readonly composer: Composer;
  readonly env: HostEnv;
  readonly redaction: Redaction;
}

/**
 * The facts that a state leads to. Ids, times and the decisions of gates that waited are inputs and come from the
 * recorded fact that is compared; nothing is derived when the state waits for an input.
 */
export async function deriveFacts(
  state: SessionState,
  recorded: { readonly type: CoreType; readonly payload: unknown },
  context: ReplayContext,
): Promise<readonly DerivedFact[]> {
  const { session, agent, composer, env, redaction } = context;
  const batch = new FactBatch(state, -1, {
    sessionId: session,
    env,
    redact: (value) => redaction.redactFact(value),
    maxBatch: Number.POSITIVE_INFINITY,
  });
  const intent = nextIntent(state, agent.parts.limits, IN_REPLAY, (now, reason, joining) =>
    composer.planCompaction(now, agent, joining, reason),
  );
  if (recorded.type === 'HistoryCompacted') {
    const compacted = compactedAgain(state, recorded.payload as PayloadOf<'HistoryCompacted'>, agent, composer);
    if (compacted !== undefined) batch.add('HistoryCompacted', compacted, {}, NODE);
  } else if (intent.do === 'decide-call') {
    const decision = await decide(intent.call, state, recorded, context);
    recordDecision(batch, intent.call, decision, agent, () => requestTime(recorded, agent));
  } else if (isFactIntent(intent)) {
    const refusal = (recorded.payload as PayloadOf<'ChangeApplied'>).failure;
    recordIntentOrEnd(batch, intent, {
      sessionId: session,
      plugins: state.plugins ?? [],
      newRunId: () => (recorded.payload as PayloadOf<'RunStarted'>).runId,
      now: () => (recorded.payload as PayloadOf<'ToolCallSettled'>).endedAt,
      tool: (name) => agent.toolSet(state.identity?.workspace).tools.get(name),
      expiresAt: () => (recorded.payload as PayloadOf<'QuestionAsked'>).expiresAt ?? 0,
      missing: (recorded.payload as PayloadOf<'RunStarted'>).without ?? [],
      compose: (joining) => composer.compose(batch.state, agent, joining),
      applyChange: (changed, change) =>
        applyChange(changed, change, { agent, composer, modelRefusal: () => refusal }, session),
    });
  }
  return batch.facts;
}

/**
 * What was compacted, and what it was decided with, follows from the state; the summary, and the size of the request
 * with the prompts that waited at that moment, are inputs.
 */
function compactedAgain(
  state: SessionState,
  { reason = 'request', method = 'model', summary, tokensBefore = 0, changeId }: PayloadOf<'HistoryCompacted'>,
  agent: AgentView,
  composer: Composer,
): PayloadOf<'HistoryCompacted'> | undefined {
  const turn = currentTurn(state);
  const isDue =
    reason === 'request'
      ? state.changes[0]?.change.kind === 'compact'
      : turn !== undefined && (reason === 'threshold' || turn.overflow === 'pending');
  const plan = composer.planCompaction(state, agent, [], reason, tokensBefore);
  if (!isDue || plan === undefined) return undefined;
  return compactedPayload(plan, { method, summary, ...(changeId === undefined ? {} : { changeId }) });
}

function decide(
  call: CallState,
  state: SessionState,
  recorded: { readonly payload: unknown },
  { session, agent, env, redaction }: ReplayContext,
) {
  const { gates: decided = [], input } = recorded.payload as Partial<PayloadOf<'ToolCallDecided'>>;
  const work = { key: { id: session }, env, redaction, logger: silent };
  const context = invocationContextOf(work, state, new AbortController().signal);
  const fromRecord: AskGate = (step) => {
    const decision = decided.find(({ gate }) => gate === step.id);
    return decision === undefined ? {} : { decision, ...(input === undefined ? {} : { input }) };
  };
  const governance = agent.governance(context.workspace);
  // Whether a budget was there to be asked is an input, as its answer is.
  const asked = decided.some(({ gate }) => gate === BUDGET_GATE);
  const gates = governance.gates.map((gate) => (gate.id === BUDGET_GATE ? { ...gate, applies: () => asked } : gate));
  return decideCall(call, { ...governance, gates }, context, fromRecord);
}

/** When a request was made, from when it expires. */
function requestTime({ payload }: { readonly payload: unknown }, { parts }: AgentView): number {
  const { expiresAt = 0 } = payload as Partial<PayloadOf<'ApprovalRequested'>>;
  return expiresAt - (parts.approval?.expiresInMs ?? 0);
}

const silent = { log: () => undefined };
