import type { ApprovalMode, GateDecision, JsonValue, PayloadOf } from '@perdure/events';
import {
  errorMessage,
  isPerdureError,
  reasonOf,
  type ErrorCode,
  type ErrorData,
  type HookSubject,
  type PermissionDecision,
  type ToolCallRequest,
} from '@perdure/plugin-api';
import { withTimeout } from '../with-timeout.js';

/** A call on its way through the gates: what was asked for, and what earlier gates found out. */
export interface GatedCall {
  /** With the arguments as the last gate that rewrote them left them. */
  readonly request: ToolCallRequest;
  /** Whether the host vouches for the call: gates that guard against the model are passed by. */
  readonly isTrusted: boolean;
  /** Whether the call consists of asking people. */
  readonly hasQuestions: boolean;
  /** What the check of the tool and its arguments found wrong. */
  readonly problem: { readonly code: ErrorCode; readonly reason: string } | undefined;
  /** Why the tool itself wants a person to agree to this call. */
  readonly confirmation: string | undefined;
  readonly permission: PermissionDecision | undefined;
}

/** What a gate says. Nothing worth recording, or a decision; and what the gates behind it are to go by. */
export interface GateResult {
  readonly decision?: GateDecision;
  /** Other arguments in the place of those that were asked for. */
  readonly input?: JsonValue;
  readonly permission?: PermissionDecision;
  /** A person is to be asked, later and perhaps elsewhere: the gates behind are passed after the answer. */
  readonly asks?: { readonly reason?: string; readonly suggestion?: string; readonly onExpiry?: 'deny' };
  /** Limits that the call came near to or met. */
  readonly hits?: readonly PayloadOf<'BudgetThresholdHit'>[];
}

/** One check in the ordered list that every call passes. The first denial ends the list. */
export interface GateStep {
  readonly id: string;
  readonly kind: 'rule' | 'waiting';
  /** Digest of what it decides by; empty when it decides by code alone. */
  readonly digest: string;
  /** Whether the gate has a say about this call. A waiting gate without one is passed without waiting. */
  applies(call: GatedCall, context: GateContext): boolean;
  decide(call: GatedCall, context: GateContext): GateResult | Promise<GateResult>;
}

/** Where a gate decides. */
export interface GateContext {
  readonly rootSessionId: string;
  readonly tenant: string | undefined;
  readonly signal: AbortSignal;
  /** What hooks are told of the session beside the call. */
  readonly subject: () => HookSubject;
  /** The session's own approval mode. */
  readonly approvals: ApprovalMode | undefined;
  /** What it was bound to since it began: no mode counts that is less strict. */
  readonly approvalCap?: ApprovalMode | undefined;
  /** Names of the tools that the session used last, the newest last. */
  readonly recentTools: () => readonly string[];
  /** How often in a row the model asked for the same, up to one of its calls; counted no further than `most`. */
  readonly timesInARow: (callId: string, most: number) => number;
}

export const GATE_TIMEOUT_MS = 30_000;

/** Asks something that may hang or throw: then the gate denies. */
export async function failingClosed(
  gate: string,
  timeoutMs: number | undefined,
  signal: AbortSignal,
  decide: (signal: AbortSignal) => Promise<GateResult>,
): Promise<GateResult> {
  try {
    return await withTimeout(timeoutMs ?? GATE_TIMEOUT_MS, signal, decide);
  } catch (error) {
    return { decision: failedGate(gate, error) };
  }
}

/** The denial of a gate that could not decide. */
export function failedGate(gate: string, error: unknown): GateDecision {
  const reason = isPerdureError(error) ? error.message : reasonOf(error);
  return denial(gate, 'PERDURE_GATE_FAILED', { gate, reason });
}

export function denial(gate: string, code: ErrorCode, data: ErrorData): GateDecision {
  return { gate, decision: 'deny', code, reason: errorMessage(code, data) };
}
