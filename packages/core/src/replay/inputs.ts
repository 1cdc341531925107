import { coreDefinition, type CoreType, type PayloadOf } from '@perdure/events';
import type { AgentView } from '../host/agent-view.js';
import { currentTurn, type SessionState } from '../session/session-state.js';
import { openCalls } from '../session/call-tree.js';
import { nextIntent } from '../turn/decider.js';

/** Nothing runs in a replay, and no tool is asked what became of a call. */
export const IN_REPLAY = { underWay: { has: () => false }, voided: { has: () => false } };

/**
 * Whether a fact tells what came from outside: whatever others appended, what models and tools answered, what hosts did
 * with the session. Everything else follows from the state.
 */
export function isInput(
  state: SessionState,
  fact: { readonly type: CoreType; readonly payload: unknown },
  agent: AgentView,
): boolean {
  if (coreDefinition(fact.type).lane !== 'owner') return true;
  switch (fact.type) {
    case 'ModelAnswered':
    case 'ModelCallFailed':
    case 'ModelCallDenied':
    case 'AnswerInterrupted':
    case 'ArtifactStored':
    case 'OwnershipReleased':
    case 'PluginSetChanged':
    case 'ChildStarted':
    case 'ChildEnded':
      return true;
    case 'SessionTitled':
      return (fact.payload as PayloadOf<'SessionTitled'>).by === 'model';
    case 'RunEnded': {
      const { status } = fact.payload as PayloadOf<'RunEnded'>;
      if (status === 'superseded') return true;
      // A run is handed over for reasons of its node, or at the boundary that someone asked for.
      return status === 'handed-over' && nextIntent(state, agent.parts.limits, IN_REPLAY).do !== 'hand-over';
    }
    case 'ToolCallDecided':
    case 'ToolCallStarted':
      return isBeside(state, fact) || isAnswerOfTool(state, fact, agent);
    case 'ToolCallSettled': {
      const { callId, status, startedAt } = fact.payload as PayloadOf<'ToolCallSettled'>;
      // What people answered is the input, and the settlement follows from it.
      if (asksPeople(state, callId)) return false;
      if (status === 'completed' || status === 'failed' || startedAt !== undefined) return true;
      if (isUnderWay(state, fact)) return true;
      return isBeside(state, fact) || isAnswerOfTool(state, fact, agent);
    }
    case 'ApprovalRequested':
    case 'QuestionAsked':
      return isBeside(state, fact);
    case 'HistoryCompacted':
      // One of an older build does not say what it was decided with.
      return (fact.payload as PayloadOf<'HistoryCompacted'>).reason === undefined;
    case 'ChangeApplied':
      // What the process had is not known behind it.
      return ['compact', 'env', 'plugins'].includes(state.changes[0]?.change.kind ?? '');
    default:
      return false;
  }
}

/** A call that the owner started: what becomes of it is told by its process, whatever that is. */
function isUnderWay(state: SessionState, fact: { readonly payload: unknown }): boolean {
  const { callId } = fact.payload as { readonly callId: string };
  const call = openCalls(state).find((open) => open.callId === callId);
  return call?.started?.epoch === state.ownership.epoch;
}

/** A call that no answer holds: hosts make it, or tools as a part of theirs, and neither is run by a replay. */
function isBeside(state: SessionState, fact: { readonly payload: unknown }): boolean {
  const { callId, origin = 'model' } = fact.payload as { readonly callId: string; readonly origin?: string };
  return origin !== 'model' || [...state.hostCalls, ...state.nestedCalls].some((call) => call.callId === callId);
}

function asksPeople(state: SessionState, callId: string): boolean {
  const calls = currentTurn(state)?.step?.calls ?? [];
  return calls.some((call) => call.callId === callId && call.decision?.hasQuestions);
}

/** A call that was left behind and whose tool was asked: its settlement, or its new start, is the tool's answer. */
function isAnswerOfTool(state: SessionState, fact: { readonly payload: unknown }, agent: AgentView): boolean {
  const intent = nextIntent(state, agent.parts.limits, IN_REPLAY);
  return intent.do === 'reconcile-call' && intent.call.callId === (fact.payload as { readonly callId: string }).callId;
}
