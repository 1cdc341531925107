import type { Failure } from '@perdure/events';
import { errorMessage, type ErrorCode, type ErrorData } from '@perdure/plugin-api';
import { brokenAnswersInARow, timesInARow } from '../session/recent-calls.js';
import type { OpenTurn, SessionState } from '../session/session-state.js';

/** Limits that a turn ends at. */
export interface TurnLimits {
  readonly maxSteps: number;
  readonly maxModelAttempts: number;
  readonly maxRepeatedCalls: number;
  readonly maxParseFailures: number;
}

/** Why a turn must not go on: it went round too often, or its model does not get on. */
export function limitMet(state: SessionState, turn: OpenTurn, limits: TurnLimits): Failure | undefined {
  const met = (code: ErrorCode, data: ErrorData): Failure => ({ code, message: errorMessage(code, data) });
  const { maxSteps: limit, maxParseFailures, maxRepeatedCalls } = limits;
  // Its process died when the request was too long for the second time.
  if (turn.overflow === 'again') return met('PERDURE_MODEL_CONTEXT_OVERFLOW', {});
  if (turn.steps >= limit) return met('PERDURE_TURN_STEP_LIMIT', { limit });
  if (brokenAnswersInARow(state, turn.turnId, maxParseFailures + 1) > maxParseFailures) {
    return met('PERDURE_TURN_PARSE_LIMIT', { times: maxParseFailures + 1 });
  }
  // The first call too many was denied, and the model told.
  if (timesInARow(state, turn.turnId, maxRepeatedCalls + 2) <= maxRepeatedCalls + 1) return undefined;
  return met('PERDURE_TURN_REPEATED_CALLS', { tool: lastTool(state) });
}

function lastTool({ messages }: SessionState): string {
  const last = messages.at(messages.length - 1);
  return last?.role === 'tool' ? (last.parts.at(-1)?.name ?? '') : '';
}
