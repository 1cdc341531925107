import type { HookSubject } from '@perdure/plugin-api';
import type { InvocationContext } from '../invoke/invocation-context.js';
import { activeRun, currentTurn, type SessionState } from '../session/session-state.js';
import { timesInARow } from '../session/recent-calls.js';
import type { SessionWork } from './session-work.js';

/** Tools that hooks are told of. */
const RECENT = 5;

/** What a piece of a session's work may know at a state. A call of the host belongs to no turn. */
export function invocationContextOf(
  work: Pick<SessionWork, 'key' | 'env' | 'redaction' | 'logger'> & Partial<Pick<SessionWork, 'files' | 'variables'>>,
  state: SessionState,
  signal: AbortSignal,
  isOfTurn = true,
): InvocationContext {
  const turn = isOfTurn ? currentTurn(state) : undefined;
  const turnId = turn?.turnId;
  const runId = turn && activeRun(turn)?.runId;
  // It is handed to code of plugins and hosts beside our own.
  return Object.freeze<InvocationContext>({
    sessionId: work.key.id,
    rootSessionId: state.identity?.root ?? work.key.id,
    tenant: work.key.tenant,
    turnId,
    runId,
    stepId: turn?.step?.stepId,
    workspace: state.identity?.workspace,
    // It changes between steps only, so the state of any moment has what the step began with.
    environment: () => work.variables?.environmentOf(state) ?? {},
    signal,
    env: work.env,
    redaction: work.redaction,
    files: work.files,
    logger: work.logger,
    subject: () => subjectOf(work.key.id, state, turnId, runId),
    approvals: state.approvals,
    approvalCap: state.approvalCap,
    recentTools: () => recentTools(state),
    timesInARow: (callId, most) => (turnId === undefined ? 0 : timesInARow(state, turnId, most, callId)),
  });
}

export function subjectOf(
  sessionId: string,
  { labels }: Pick<SessionState, 'labels'>,
  turnId?: string,
  runId?: string,
): HookSubject {
  return {
    session_id: sessionId,
    tenant_id: labels.tenantId ?? null,
    principal: labels.principal ?? null,
    agent_template_id: labels.agentTemplateId ?? null,
    correlation_id: labels.correlationId ?? null,
    turn_id: turnId ?? null,
    run_id: runId ?? null,
  };
}

function recentTools({ messages }: SessionState): readonly string[] {
  const names: string[] = [];
  for (let index = messages.length - 1; index >= 0 && names.length < RECENT; index--) {
    const message = messages.at(index);
    if (message?.role === 'tool') names.unshift(...message.parts.map(({ name }) => name));
  }
  return names.slice(-RECENT);
}
