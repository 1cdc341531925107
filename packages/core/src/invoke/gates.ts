import type { GateDecision } from '@perdure/events';
import {
  errorMessage,
  isPerdureError,
  reasonOf,
  type ErrorCode,
  type ErrorData,
  type Gate,
  type GateAnswer,
  type PermissionDecision,
  type PreToolUseHook,
  type ToolCallRequest,
} from '@perdure/plugin-api';
import type { AgentParts } from '../host/agent-view.js';
import { digestOf } from '../host/sha256.js';
import { withTimeout } from './with-timeout.js';

/** A call on its way through the gates: what was asked for, and what earlier gates found out. */
export interface GatedCall {
  readonly request: ToolCallRequest;
  /** Whether the host vouches for the call: gates that guard against the model are passed by. */
  readonly isTrusted: boolean;
  /** What the check of the tool and its arguments found wrong. */
  readonly problem: { readonly code: ErrorCode; readonly reason: string } | undefined;
  permission?: PermissionDecision;
}

/** What a gate says: nothing worth recording, or a decision. Only a waiting gate answers later. */
export type GateResult = GateDecision | undefined;

/** One check in the ordered list that every call passes. The first denial ends the list. */
export interface GateStep {
  readonly id: string;
  readonly kind: 'rule' | 'waiting';
  /** Digest of what it decides by; empty when it decides by code alone. */
  readonly digest: string;
  /** Whether the gate has a say about this call. A waiting gate without one is passed without waiting. */
  applies(call: GatedCall): boolean;
  decide(call: GatedCall, signal: AbortSignal): GateResult | Promise<GateResult>;
}

const GATE_TIMEOUT_MS = 30_000;

/** The gates of an agent, in their order. */
export function gateSteps(parts: AgentParts): readonly GateStep[] {
  return [
    argumentsGate,
    ...parts.hooks.flatMap((hook) => (hook.event === 'pre_tool_use' ? [hookGate(hook)] : [])),
    permissionGate(parts),
    askGate(parts),
    ...parts.gates.map(pluginGate),
  ];
}

/** Digest of the gates and their rules: it changes when a decision could. */
export function policyOf(steps: readonly GateStep[]): string {
  return digestOf(JSON.stringify(steps.map(({ id, kind, digest }) => [id, kind, digest])));
}

/** The tool exists and takes these arguments. */
const argumentsGate: GateStep = {
  id: 'arguments',
  kind: 'rule',
  digest: '',
  applies: ({ problem }) => problem !== undefined,
  decide: ({ problem }) =>
    problem && { gate: 'arguments', decision: 'deny', code: problem.code, reason: problem.reason },
};

function hookGate(hook: PreToolUseHook): GateStep {
  const id = `hook:${hook.id}`;
  return {
    id,
    kind: 'waiting',
    digest: '',
    applies: () => true,
    decide: ({ request }, signal) =>
      failingClosed(id, request, hook.timeoutMs, signal, async (inner) => {
        const answer = await hook.handle(request, inner);
        if (answer === undefined || answer.action === 'continue') return { decision: 'allow' };
        if (answer.action === 'block') return { decision: 'deny', reason: answer.reason ?? 'Blocked' };
        throw new TypeError('it answered neither continue nor block');
      }),
  };
}

function permissionGate({ permission }: AgentParts): GateStep {
  return {
    id: 'permission',
    kind: 'rule',
    digest: permission === undefined ? '' : `${permission.id} ${permission.digest}`,
    applies: ({ isTrusted }) => !isTrusted,
    decide: (call) => {
      try {
        const decision = permission?.decide(call.request) ?? { decision: 'ask' };
        call.permission = decision;
        const rule = decision.rule === undefined ? {} : { rule: decision.rule };
        if (decision.decision === 'ask') return undefined;
        if (decision.decision === 'allow') return { gate: 'permission', decision: 'allow', ...rule };
        if (decision.decision !== 'deny') throw new TypeError('it answered neither allow, deny nor ask');
        return {
          ...denial('permission', 'PERDURE_TOOL_DENIED', {
            tool: call.request.tool,
            reason: decision.reason ?? 'by rule',
          }),
          ...rule,
        };
      } catch (error) {
        return denial('permission', 'PERDURE_GATE_FAILED', { gate: 'permission', reason: reasonOf(error) });
      }
    },
  };
}

/** A call that the rules leave open: someone is asked, and where there is nobody it is denied. */
function askGate({ asker }: AgentParts): GateStep {
  return {
    id: 'ask',
    kind: asker === undefined ? 'rule' : 'waiting',
    digest: '',
    applies: ({ isTrusted, permission }) => !isTrusted && permission?.decision === 'ask',
    decide: ({ request, permission }, signal) => {
      if (asker === undefined || permission === undefined) {
        return denial('ask', 'PERDURE_TOOL_NOBODY_TO_ASK', { tool: request.tool });
      }
      // A person may take as long as they need; the turn's end ends the question.
      return failingClosed('ask', request, Number.POSITIVE_INFINITY, signal, async (inner) => {
        const answer = await asker.ask(request, permission, inner);
        if (answer === 'allow') return { decision: 'allow' };
        if (answer === 'deny') return { decision: 'deny', reason: 'a person said no' };
        throw new TypeError('it answered neither allow nor deny');
      });
    },
  };
}

function pluginGate(gate: Gate): GateStep {
  const step = { id: gate.id, kind: gate.kind, applies: () => true };
  if (gate.kind === 'rule') {
    return {
      ...step,
      digest: gate.digest,
      decide: ({ request }) => {
        try {
          return gateDecision(gate.id, request.tool, gate.decide(request));
        } catch (error) {
          return denial(gate.id, 'PERDURE_GATE_FAILED', { gate: gate.id, reason: reasonOf(error) });
        }
      },
    };
  }
  return {
    ...step,
    digest: '',
    decide: ({ request }, signal) =>
      failingClosed(gate.id, request, gate.timeoutMs, signal, (inner) => gate.decide(request, inner)),
  };
}

/** No decision, an error or a time-out is a denial. */
async function failingClosed(
  gate: string,
  { tool }: ToolCallRequest,
  timeoutMs: number | undefined,
  signal: AbortSignal,
  decide: (signal: AbortSignal) => Promise<GateAnswer>,
): Promise<GateDecision> {
  try {
    return gateDecision(gate, tool, await withTimeout(timeoutMs ?? GATE_TIMEOUT_MS, signal, decide));
  } catch (error) {
    const reason = isPerdureError(error) ? error.message : reasonOf(error);
    return denial(gate, 'PERDURE_GATE_FAILED', { gate, reason });
  }
}

function gateDecision(gate: string, tool: string, answer: GateAnswer): GateDecision {
  if (answer.decision === 'allow') return { gate, decision: 'allow' };
  if (answer.decision !== 'deny') throw new TypeError('it answered neither allow nor deny');
  return denial(gate, 'PERDURE_TOOL_DENIED', { tool, reason: answer.reason });
}

function denial(gate: string, code: ErrorCode, data: ErrorData): GateDecision {
  return { gate, decision: 'deny', code, reason: errorMessage(code, data) };
}
