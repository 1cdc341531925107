import type { EffectContract, Failure, GateDecision, JsonValue, SettlementStatus } from '@perdure/events';
import {
  errorMessage,
  isPerdureError,
  reasonOf,
  type ErrorCode,
  type ErrorData,
  type ToolContext,
  type ToolCallRequest,
} from '@perdure/plugin-api';
import type { BoundTool, ToolSet } from '../compose/tool-set.js';
import { digestOf } from '../host/sha256.js';
import type { SecretRegistry } from '../secrets/secret-registry.js';
import { canonicalJson } from '../session/canonical-json.js';
import type { CallState } from '../session/session-state.js';
import type { GatedCall, GateResult, GateStep } from './gates.js';
import type { InvocationContext } from './invocation-context.js';
import { TimeoutReached, withTimeout } from './with-timeout.js';

/** What all gates together said of a call. */
export interface CallDecision {
  readonly decision: 'allow' | 'deny';
  readonly gates: readonly GateDecision[];
  readonly effect: EffectContract;
  readonly argumentDigest: string;
}

/** Asks a waiting gate; replay answers from the record. */
export type AskGate = (step: GateStep, call: GatedCall) => GateResult | Promise<GateResult>;

/**
 * Leads a call through the gates. It answers at once unless a gate that waits has a say; then, and only then, it
 * answers later.
 */
export function decideCall(
  call: CallState,
  steps: readonly GateStep[],
  tools: ToolSet,
  isTrusted: boolean,
  context: InvocationContext,
  ask: AskGate,
): CallDecision | Promise<CallDecision> {
  const bound = tools.tools.get(call.name);
  const input = call.input ?? {};
  const effect = bound?.effect ?? 'once';
  const problem = problemOf(call, bound);
  const { callId, name: tool, origin } = call;
  const { sessionId, turnId, workspace } = context;
  const subjects = problem === undefined ? subjectsOf(bound, input) : [];
  const request: ToolCallRequest = { callId, tool, input, effect, origin, sessionId, turnId, workspace, subjects };
  const gated: GatedCall = { request, isTrusted, problem };
  const decisions: GateDecision[] = [];
  const result = (): CallDecision => ({
    decision: decisions.some(({ decision }) => decision === 'deny') ? 'deny' : 'allow',
    gates: decisions,
    effect,
    argumentDigest: digestOf(canonicalJson(call.invalidInput ?? input)),
  });
  const pass = (from: number): CallDecision | Promise<CallDecision> => {
    for (let index = from; index < steps.length; index++) {
      const step = steps[index] as GateStep;
      if (!step.applies(gated)) continue;
      const answer = step.kind === 'rule' ? step.decide(gated, context.signal) : ask(step, gated);
      if (answer instanceof Promise) {
        return answer.then((late) => (takes(late) ? result() : pass(index + 1)));
      }
      if (takes(answer)) return result();
    }
    return result();
  };
  const takes = (answer: GateResult): boolean => {
    if (answer !== undefined) decisions.push(answer);
    return answer?.decision === 'deny';
  };
  return pass(0);
}

function problemOf(call: CallState, bound: BoundTool | undefined): GatedCall['problem'] {
  if (bound === undefined) return problem('PERDURE_TOOL_UNKNOWN', { tool: call.name });
  if (call.invalidInput !== undefined) {
    return problem('PERDURE_TOOL_INPUT', { tool: call.name, field: 'arguments', reason: 'they are not JSON' });
  }
  const checked = bound.schema.validate(call.input ?? {});
  if (checked.ok) return undefined;
  return problem('PERDURE_TOOL_INPUT', { tool: call.name, field: checked.field, reason: checked.reason });
}

function problem(code: ErrorCode, data: ErrorData): { readonly code: ErrorCode; readonly reason: string } {
  return { code, reason: errorMessage(code, data) };
}

/** A tool that cannot say what a call is about leaves its patterns nothing to match but the arguments. */
function subjectsOf(bound: BoundTool | undefined, input: JsonValue): readonly string[] {
  const subjects = bound?.tool.permissionSubjects;
  return subjects === undefined ? [JSON.stringify(input)] : subjects(input as never);
}

/** Milliseconds that a tool with an effect may take to end when it is broken off. */
const ABORT_GRACE_MS = 2_000;

export interface ToolRun {
  readonly call: CallState;
  readonly tool: BoundTool;
  readonly idempotencyKey: string;
  readonly secrets: SecretRegistry;
}

/** What came of running a tool: the members of its settlement. */
export interface ToolRunOutcome {
  readonly status: SettlementStatus;
  readonly output?: JsonValue;
  readonly failure?: Failure;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The one way to an effect. Secrets are put in here and taken out of whatever comes back. Never throws. */
export async function runTool(run: ToolRun, context: InvocationContext): Promise<ToolRunOutcome> {
  const { clock } = context.env;
  const startedAt = clock.now();
  const settle = (outcome: Omit<ToolRunOutcome, 'startedAt' | 'endedAt'>): ToolRunOutcome => ({
    ...context.redaction.redact(outcome),
    startedAt,
    endedAt: clock.now(),
  });
  try {
    const input = argumentsOf(run);
    const output = await withTimeout(
      run.tool.tool.timeoutMs ?? Number.POSITIVE_INFINITY,
      context.signal,
      (signal) => run.tool.tool.execute(input as never, toolContext(run, context, signal)),
      // What a tool does with the end it is told of is part of its outcome, and it may need a moment for it.
      run.tool.effect === 'read' ? 0 : ABORT_GRACE_MS,
    );
    return settle({ status: 'completed', output: toJson(output) });
  } catch (error) {
    return settle(failedRun(run, error, context.signal.aborted));
  }
}

/** Asks a tool what became of a call that a dead owner started. An error is no answer: the outcome stays unknown. */
export async function reconcileTool(
  run: ToolRun,
  context: InvocationContext,
): Promise<{ readonly status: 'happened'; readonly output: JsonValue } | { readonly status: 'voided' | 'unknown' }> {
  const { reconcile, timeoutMs } = run.tool.tool;
  if (reconcile === undefined) return { status: 'unknown' };
  try {
    const input = argumentsOf(run);
    const answer = await withTimeout(timeoutMs ?? 120_000, context.signal, (signal) =>
      reconcile.call(run.tool.tool, input as never, toolContext(run, context, signal)),
    );
    if (answer.status === 'happened')
      return { status: 'happened', output: context.redaction.redact(toJson(answer.output)) };
    return { status: answer.status === 'voided' ? 'voided' : 'unknown' };
  } catch {
    return { status: 'unknown' };
  }
}

/** What a tool gets: its arguments with secrets in the place of references, as its schema makes them. */
function argumentsOf({ call, tool, secrets }: ToolRun): unknown {
  const resolved = secrets.isEmpty ? (call.input ?? {}) : secrets.resolve(call.input ?? {}, call.name);
  const checked = tool.schema.validate(resolved);
  return checked.ok ? checked.value : resolved;
}

function toolContext(run: ToolRun, context: InvocationContext, abortSignal: AbortSignal): ToolContext {
  return {
    toolCallId: run.call.callId,
    abortSignal,
    idempotencyKey: run.idempotencyKey,
    sessionId: context.sessionId,
    ...(context.workspace === undefined ? {} : { workspace: context.workspace }),
  };
}

/** A tool that was broken off may have had its effect: only one that reads can be called cancelled. */
function failedRun(run: ToolRun, error: unknown, wasStopped: boolean): Omit<ToolRunOutcome, 'startedAt' | 'endedAt'> {
  const tool = run.call.name;
  if (wasStopped) {
    if (run.tool.effect === 'read')
      return { status: 'cancelled', failure: failureOf('PERDURE_TOOL_CANCELLED', { tool }) };
    return { status: 'unknown', failure: failureOf('PERDURE_TOOL_UNKNOWN_OUTCOME', { tool }) };
  }
  if (error instanceof TimeoutReached) {
    return { status: 'failed', failure: failureOf('PERDURE_TOOL_TIMEOUT', { tool, ms: error.ms }) };
  }
  if (isPerdureError(error)) return { status: 'failed', failure: { code: error.code, message: error.message } };
  return { status: 'failed', failure: thrownFailure(tool, error) };
}

/** What a tool throws on purpose has a code of its own; anything else is told as it is. */
function thrownFailure(tool: string, error: unknown): Failure {
  const { code, message, data } = (typeof error === 'object' && error !== null ? error : {}) as Record<string, unknown>;
  if (typeof code === 'string' && typeof message === 'string') {
    return { code, message, ...(data === undefined ? {} : { data: toJson(data) }) };
  }
  return failureOf('PERDURE_TOOL_FAILED', { tool, reason: reasonOf(error) });
}

function failureOf(code: ErrorCode, data: ErrorData): Failure {
  return { code, message: errorMessage(code, data) };
}

/** A value as it survives JSON; what does not survive is `null`. */
function toJson(value: unknown): JsonValue {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value;
  const text = JSON.stringify(value) as string | undefined;
  return text === undefined ? null : (JSON.parse(text) as JsonValue);
}
