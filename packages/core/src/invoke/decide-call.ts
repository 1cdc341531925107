import type { EffectContract, GateDecision, JsonValue, PayloadOf } from '@perdure/events';
import {
  cutText,
  errorMessage,
  reasonOf,
  type ErrorCode,
  type ErrorData,
  type ToolCallRequest,
} from '@perdure/plugin-api';
import type { BoundTool, ToolSet } from '../compose/tool-set.js';
import { digestOf } from '../host/sha256.js';
import { canonicalJson } from '../session/canonical-json.js';
import type { CallState } from '../session/call-state.js';
import { answerDecision, confirmedDecision, gatesBehindApproval } from './gates/permission-gates.js';
import { failedGate, type GateContext, type GatedCall, type GateResult, type GateStep } from './gates/gate-step.js';
import type { InvocationContext } from './invocation-context.js';
import { holdsMark } from '../secrets/redaction-marks.js';
import { refuseLater } from './refuse-later.js';

/** What all gates together said of a call. */
export interface CallDecision {
  readonly decision: 'allow' | 'deny' | 'ask';
  readonly gates: readonly GateDecision[];
  readonly effect: EffectContract;
  /** The arguments, when a gate rewrote them. */
  readonly input?: JsonValue;
  readonly argumentDigest: string;
  /** What a person is to be told, when they are asked. */
  readonly asks?: NonNullable<GateResult['asks']>;
  /** The call is allowed, and consists of asking people. */
  readonly hasQuestions?: true;
  /** Limits that the call came near to or met. */
  readonly hits: readonly PayloadOf<'BudgetThresholdHit'>[];
}

/** Asks a waiting gate; replay answers from the record. */
export type AskGate = (step: GateStep, call: GatedCall, context: GateContext) => GateResult | Promise<GateResult>;

/** Asks the gate itself. */
export const askGate: AskGate = (step, call, context) => step.decide(call, context);

/** What decides about calls: the gates in their order, the tools, and whether the host vouches for the call. */
export interface CallGovernance {
  readonly gates: readonly GateStep[];
  readonly tools: ToolSet;
  readonly isTrusted: boolean;
  /** Names of the tools of which the call is a part, the outermost first. */
  readonly within: readonly string[];
}

/**
 * Leads a call through the gates. It answers at once unless a gate that waits has a say; then, and only then, it
 * answers later.
 */
export function decideCall(
  call: CallState,
  { gates: all, tools, ...standing }: CallGovernance,
  context: InvocationContext,
  ask: AskGate,
): CallDecision | Promise<CallDecision> {
  const bound = tools.tools.get(call.name);
  const effect = bound?.effect ?? 'once';
  // What a person was shown and has answered is not asked again.
  const answered = call.approval?.answer;
  const gates = answered === undefined ? all : gatesBehindApproval(all);
  const decisions: GateDecision[] =
    answered === undefined ? [] : [...(call.approval?.gates ?? []), answerDecision(call.name, answered)];
  const hits: PayloadOf<'BudgetThresholdHit'>[] = [];
  let rewritten = call.approval === undefined ? undefined : call.input;
  let asks: GateResult['asks'];
  let gated = gatedCall(call, bound, standing, context);

  /** Whether the call ends here. */
  const take = ({ decision, input, permission, hits: met = [], asks: question }: GateResult): boolean => {
    if (question !== undefined) {
      asks = question;
      return true;
    }
    hits.push(...met);
    if (decision !== undefined) decisions.push(decision);
    if (decision?.decision === 'deny') return true;
    if (permission !== undefined) gated = { ...gated, permission };
    if (input === undefined) return false;
    rewritten = context.redaction.redact(input);
    gated = gatedCall({ ...call, input: rewritten, invalidInput: undefined }, bound, standing, context);
    const { problem } = gated;
    if (problem !== undefined) decisions.push({ gate: 'arguments', decision: 'deny', ...problem });
    return problem !== undefined;
  };
  /** What a gate says may be anything, when it comes from others. */
  const takeFrom = (step: GateStep, said: GateResult): boolean => {
    try {
      return take(boundedResult(said));
    } catch (error) {
      return take({ decision: failedGate(step.id, error) });
    }
  };
  const pass = (from: number): CallDecision | Promise<CallDecision> => {
    for (let index = from; index < gates.length; index++) {
      const step = gates[index] as GateStep;
      if (!step.applies(gated, context)) continue;
      const answer = step.kind === 'rule' ? step.decide(gated, context) : ask(step, gated, context);
      if (answer instanceof Promise) return answer.then((late) => (takeFrom(step, late) ? result() : pass(index + 1)));
      if (takeFrom(step, answer)) return result();
    }
    return result();
  };
  const result = (): CallDecision => {
    const isDenied = decisions.some(({ decision }) => decision === 'deny');
    const confirmed = isDenied || asks !== undefined ? undefined : confirmedDecision(gated);
    return {
      decision: asks !== undefined ? 'ask' : isDenied ? 'deny' : 'allow',
      ...(asks === undefined ? {} : { asks }),
      gates: confirmed === undefined ? decisions : [...decisions, confirmed],
      effect,
      ...(rewritten === undefined ? {} : { input: rewritten }),
      argumentDigest: digestOf(canonicalJson(rewritten ?? call.invalidInput ?? call.input ?? {})),
      ...(asks === undefined && !isDenied && gated.hasQuestions ? { hasQuestions: true } : {}),
      hits,
    };
  };
  return answered?.decision === 'deny' ? result() : pass(0);
}

/** Characters that are kept of what a gate says. */
const LONGEST_REASON = 4_096;

/** What a gate says, as far as facts have room for it. */
function boundedResult({ decision, hits, ...rest }: GateResult): GateResult {
  const cut = (text: string): string => cutText(text, LONGEST_REASON);
  return {
    ...rest,
    ...(decision === undefined
      ? {}
      : {
          decision: {
            ...decision,
            ...(decision.reason === undefined ? {} : { reason: cut(decision.reason) }),
            ...(decision.rule === undefined ? {} : { rule: cut(decision.rule) }),
          },
        }),
    ...(hits === undefined
      ? {}
      : {
          hits: hits.map((hit) => ({
            ...hit,
            resource: cut(hit.resource),
            ...(hit.message === undefined ? {} : { message: cut(hit.message) }),
          })),
        }),
  };
}

function gatedCall(
  call: CallState,
  bound: BoundTool | undefined,
  { isTrusted, within }: Pick<CallGovernance, 'isTrusted' | 'within'>,
  { sessionId, turnId, workspace }: InvocationContext,
): GatedCall {
  const { callId, name: tool, origin, input = {} } = call;
  const effect = bound?.effect ?? 'once';
  const about = { callId, tool, input, effect, origin, within };
  const request: ToolCallRequest = { ...about, sessionId, turnId, workspace, subjects: [] };
  const hasQuestions = bound?.tool.questions !== undefined;
  const gated = { request, isTrusted, hasQuestions, confirmation: undefined, permission: undefined };
  try {
    const problem = problemOf(call, bound);
    if (problem !== undefined) return { ...gated, problem };
    const subjects = subjectsOf(bound, input);
    const confirmation = confirmationOf(bound, input);
    return { ...gated, request: { ...request, subjects }, problem, confirmation };
  } catch (error) {
    // The tool's own code could not say what the call is: nobody can decide about it.
    return { ...gated, problem: problem('PERDURE_GATE_FAILED', { gate: 'arguments', reason: reasonOf(error) }) };
  }
}

function problemOf(call: CallState, bound: BoundTool | undefined): GatedCall['problem'] {
  if (bound === undefined) return problem('PERDURE_TOOL_UNKNOWN', { tool: call.name });
  if (call.invalidInput !== undefined) {
    return problem('PERDURE_TOOL_INPUT', { tool: call.name, field: 'arguments', reason: 'they are not JSON' });
  }
  // Whatever it was is not in the facts: the call could neither be approved nor be repeated as it was asked for.
  if (holdsMark(call.input)) return problem('PERDURE_SECRET_IN_ARGUMENTS', { tool: call.name });
  const checked = bound.schema.validate(call.input ?? {});
  if (checked.ok) return undefined;
  return problem('PERDURE_TOOL_INPUT', { tool: call.name, field: checked.field, reason: checked.reason });
}

function problem(code: ErrorCode, data: ErrorData): { readonly code: ErrorCode; readonly reason: string } {
  return { code, reason: errorMessage(code, data) };
}

/** A tool that cannot say what a call is about leaves its patterns nothing to match but the arguments. */
function subjectsOf(bound: BoundTool | undefined, input: JsonValue): readonly string[] {
  const ask = bound?.tool.permissionSubjects;
  if (ask === undefined) return [JSON.stringify(input)];
  const subjects: unknown = refuseLater(ask(input as never));
  const isList = Array.isArray(subjects) && subjects.every((subject) => typeof subject === 'string');
  if (!isList) throw new TypeError('permissionSubjects gave no list of texts');
  return subjects;
}

function confirmationOf(bound: BoundTool | undefined, input: JsonValue): string | undefined {
  const confirmation: unknown = refuseLater(bound?.tool.confirmation?.(input as never));
  if (confirmation === undefined || confirmation === null || typeof confirmation === 'string') {
    return confirmation ?? undefined;
  }
  throw new TypeError('confirmation gave no text');
}
