import type { Failure, FilePart, JsonValue, SettlementStatus } from '@perdure/events';
import {
  errorMessage,
  isPerdureError,
  noCalls,
  PerdureError,
  reasonOf,
  type ErrorCode,
  type ErrorData,
  type ScopedChildren,
  type ScopedInvoker,
  type Tool,
  type ToolContext,
} from '@perdure/plugin-api';
import type { BoundTool } from '../compose/tool-set.js';
import type { SecretRegistry } from '../secrets/secret-registry.js';
import type { CallState } from '../session/call-state.js';
import type { InvocationContext } from './invocation-context.js';
import type { Waits } from './time-limit.js';
import { TimeoutReached, withTimeout } from './with-timeout.js';

/** Milliseconds that a tool with an effect may take to end when it is broken off. */
const ABORT_GRACE_MS = 2_000;

export interface ToolRun {
  readonly call: CallState;
  readonly tool: BoundTool;
  readonly idempotencyKey: string;
  readonly secrets: SecretRegistry;
  /** Makes the parts of this call. Absent where none may be made: when a tool only tells what happened. */
  readonly parts?: CallParts;
  /** When the call waits for people inside itself; absent as the parts are. */
  readonly waits?: Waits;
  /** Has a model make an object for this call; absent as the parts are. */
  readonly objects?: ObjectMaking;
  /** Hands work of this call to other sessions; absent as the parts are. */
  readonly children?: CallDelegation;
}

/** The sessions that a running call hands work to, and the end of those that it waits for with it. */
export interface CallDelegation extends ScopedChildren {
  close(): Promise<void>;
}

/** The objects that models make for a running call, and the end of that with it. */
export interface ObjectMaking {
  readonly generate: NonNullable<ToolContext['generateObject']>;
  close(): Promise<void>;
}

/** The parts of a running call, and the end of them with it. */
export interface CallParts extends ScopedInvoker {
  /** Asks people. */
  readonly ask: NonNullable<ToolContext['ask']>;
  /** No further part is made, those under way are broken off, and all are settled when it resolves. */
  close(): Promise<void>;
}

/** What came of running a tool: the members of its settlement. */
export interface ToolRunOutcome {
  readonly status: SettlementStatus;
  readonly output?: JsonValue;
  readonly files?: FilePart[];
  readonly failure?: Failure;
  readonly startedAt: number;
  readonly endedAt: number;
}

/** The one way to an effect. Secrets are put in here and taken out of whatever comes back. Never throws. */
export async function runTool(run: ToolRun, context: InvocationContext): Promise<ToolRunOutcome> {
  const { clock } = context.env;
  const startedAt = clock.now();
  const settle = (outcome: Omit<ToolRunOutcome, 'startedAt' | 'endedAt'>): ToolRunOutcome => ({
    ...context.redaction.redactFact(outcome),
    startedAt,
    endedAt: clock.now(),
  });
  try {
    const output = await executed(run, context);
    const files = (await context.files?.keepBeside(output)) ?? [];
    return settle({ status: 'completed', output: toJson(output), ...(files.length === 0 ? {} : { files }) });
  } catch (error) {
    return settle(failedRun(run, error, context.signal.aborted));
  }
}

/** Parts that a tool did not wait for end with it: their outcomes come before its own. */
async function executed(run: ToolRun, context: InvocationContext): Promise<unknown> {
  try {
    const input = argumentsOf(run);
    return await withTimeout(
      run.tool.tool.timeoutMs ?? Number.POSITIVE_INFINITY,
      context.signal,
      (signal) => executeOf(run.tool)(input as never, toolContext(run, context, signal)),
      // What a tool does with the end it is told of is part of its outcome, and it may need a moment for it.
      run.tool.effect === 'read' ? 0 : ABORT_GRACE_MS,
      run.waits,
    );
  } finally {
    await run.children?.close();
    await run.objects?.close();
    await run.parts?.close();
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

/** A tool that asks people has no effect of its own, and whoever comes here cannot wait for them. */
function executeOf({ name, tool }: BoundTool): NonNullable<Tool['execute']> {
  if (tool.execute === undefined) throw new PerdureError('PERDURE_TOOL_ASKS', { tool: name });
  return tool.execute.bind(tool);
}

/** What a tool gets: its arguments with secrets in the place of references, as its schema makes them. */
function argumentsOf({ call, tool, secrets }: ToolRun): unknown {
  const resolved = secrets.isEmpty
    ? (call.input ?? {})
    : secrets.resolve(call.input ?? {}, `The call of "${call.name}"`);
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
    calls: run.parts ?? noCalls,
    ...(context.files === undefined ? {} : { artifacts: context.files }),
    ...(run.children === undefined ? {} : { children: run.children }),
    ...(run.parts === undefined ? {} : { ask: run.parts.ask }),
    ...(run.objects === undefined ? {} : { generateObject: run.objects.generate }),
    ...environmentOf(run, context),
  };
}

function environmentOf({ call, secrets }: ToolRun, context: InvocationContext): Pick<ToolContext, 'env'> {
  const env = context.environment();
  if (Object.keys(env).length === 0) return {};
  return { env: secrets.isEmpty ? env : secrets.resolveVariables(env, call.name) };
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
  // A tool that reaches others may know that it does not know.
  if (isPerdureError(error, 'PERDURE_TOOL_UNKNOWN_OUTCOME')) {
    return { status: 'unknown', failure: failureOf('PERDURE_TOOL_UNKNOWN_OUTCOME', { tool }) };
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
