import type { ApprovalMode, GateDecision } from '@perdure/events';
import type { PermissionDecision } from '@perdure/plugin-api';
import { stricterMode } from '../../children/stricter.js';
import type { AgentParts } from '../../host/agent-view.js';
import type { CallApproval } from '../../session/call-state.js';
import { refuseLater } from '../refuse-later.js';
import { denial, failedGate, failingClosed, type GatedCall, type GateResult, type GateStep } from './gate-step.js';

/** The rules. They never wait; a call that they leave open goes on to someone who is asked. */
export function permissionGate({ permission }: Pick<AgentParts, 'permission'>): GateStep {
  const id = 'permission';
  return {
    id,
    kind: 'rule',
    digest: permission === undefined ? '' : `${permission.id} ${permission.digest}`,
    applies: ({ isTrusted }) => !isTrusted,
    decide: ({ request }) => {
      try {
        const said: PermissionDecision = refuseLater(permission?.decide(request)) ?? { decision: 'ask' };
        if (!isText(said.rule) || !isText(said.reason)) throw new TypeError('its rule or its reason is no text');
        const rule = said.rule === undefined ? {} : { rule: said.rule };
        if (said.decision === 'ask') return { permission: said };
        if (said.decision === 'allow') {
          return { permission: said, decision: { gate: id, decision: 'allow', ...rule } };
        }
        if (said.decision !== 'deny') throw new TypeError('it answered neither allow, deny nor ask');
        const { tool } = request;
        return {
          decision: { ...denial(id, 'PERDURE_TOOL_DENIED', { tool, reason: said.reason ?? 'by rule' }), ...rule },
        };
      } catch (error) {
        return { decision: failedGate(id, error) };
      }
    },
  };
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

/**
 * A tool may want a person to agree to a call that the rules allow. No rule can stand for that person, so none is
 * suggested.
 */
export const confirmationGate: GateStep = {
  id: 'confirmation',
  kind: 'rule',
  digest: '',
  applies: ({ isTrusted, confirmation }) => !isTrusted && confirmation !== undefined,
  decide: ({ confirmation = '' }) => ({
    permission: { decision: 'ask', reason: confirmation, isConfirmation: true },
  }),
};

/** What the fact of an allowed call says of the agreement that its tool wanted, and for what reason. */
export function confirmedDecision({ confirmation, isTrusted }: GatedCall): GateDecision | undefined {
  if (confirmation === undefined) return undefined;
  const by = isTrusted ? { rule: 'by the host' } : {};
  return { gate: confirmationGate.id, decision: 'allow', reason: confirmation, ...by };
}

/** A call that is left open: a person is asked, and where nobody can be it is denied. */
export function approvalGate({
  approval,
  asker,
  approvalCap,
}: Pick<AgentParts, 'approval' | 'asker' | 'approvalCap'>): GateStep {
  const id = APPROVAL_GATE;
  const isAsking = approval === undefined && asker !== undefined;
  return {
    id,
    kind: isAsking ? 'waiting' : 'rule',
    digest: [approval?.id, approval?.digest, approvalCap].filter((each) => each !== undefined).join(' '),
    applies: ({ isTrusted, permission }) => !isTrusted && permission?.decision === 'ask',
    decide: (call, { signal, approvals: own, approvalCap: bound }) => {
      // A session that was handed work asks and refuses wherever the one that handed it on does.
      const approvals = cappedMode(own, strictestCap(approvalCap, bound), approval?.mode);
      const { request, permission } = call;
      const { tool } = request;
      const mode = approvals ?? approval?.mode ?? 'ask';
      if (mode === 'deny') return refusedByMode(tool, approvals);
      if (asksByItself(call)) return { decision: { gate: id, decision: 'allow', rule: 'it asks by itself' } };
      if (mode === 'always-allow') {
        // A person must agree, and in this mode none is asked.
        if (permission?.isConfirmation === true) {
          return { decision: denial(id, 'PERDURE_TOOL_NOBODY_TO_ASK', { tool }) };
        }
        return { decision: { gate: id, decision: 'allow', rule: modeRule(mode, approvals) } };
      }
      // A session that is to ask does so also where its agent has no policy of its own.
      if (approval !== undefined || (approvals !== undefined && asker === undefined)) {
        return askedLater(permission, approval?.expiresInMs);
      }
      if (asker === undefined || permission === undefined) {
        return { decision: denial(id, 'PERDURE_TOOL_NOBODY_TO_ASK', { tool }) };
      }
      // A person may take as long as they need; the turn's end ends the question.
      return failingClosed(id, Number.POSITIVE_INFINITY, signal, async (inner) => {
        const answer = await asker.ask(request, permission, inner);
        if (answer === 'allow') return { decision: { gate: id, decision: 'allow' } };
        if (answer !== 'deny') throw new TypeError('it answered neither allow nor deny');
        return { decision: denial(id, 'PERDURE_TOOL_DENIED', { tool, reason: 'a person said no' }) };
      });
    },
  };
}

/** The session's own mode as far as it counts; a cap that is stricter than the policy is like a mode of its own. */
export function cappedMode(
  own: ApprovalMode | undefined,
  cap: ApprovalMode | undefined,
  policy: ApprovalMode = 'ask',
): ApprovalMode | undefined {
  if (cap === undefined) return own;
  const mode = stricterMode(cap, own ?? policy);
  return own === undefined && mode === policy ? undefined : mode;
}

/** The stricter of two caps, each of which may be absent. */
export function strictestCap(one: ApprovalMode | undefined, other: ApprovalMode | undefined): ApprovalMode | undefined {
  return other === undefined ? one : stricterMode(one, other);
}

export const APPROVAL_GATE = 'approval';

/**
 * A call that does nothing but ask people is put before a person in any case. It needs no approval besides, unless a
 * rule or the tool itself wants one.
 */
function asksByItself({ hasQuestions, permission, confirmation }: GatedCall): boolean {
  return hasQuestions && permission?.rule === undefined && confirmation === undefined;
}

function refusedByMode(tool: string, own: ApprovalMode | undefined): GateResult {
  const denied = denial(APPROVAL_GATE, 'PERDURE_TOOL_DENIED', { tool, reason: 'nobody is asked' });
  return { decision: own === undefined ? denied : { ...denied, rule: modeRule(own, own) } };
}

/** Which mode decided, and whose it was. */
function modeRule(mode: ApprovalMode, own: ApprovalMode | undefined): string {
  return own === undefined ? mode : `${mode} of the session`;
}

function askedLater(
  { reason, suggestion, isConfirmation }: Partial<PermissionDecision> = {},
  expiresInMs: number | undefined,
): GateResult {
  return {
    asks: {
      ...(reason === undefined ? {} : { reason }),
      ...(suggestion === undefined ? {} : { suggestion }),
      // That nobody answered in time is nobody's agreement.
      ...(isConfirmation === true && expiresInMs !== undefined ? { onExpiry: 'deny' } : {}),
    },
  };
}

/** What a person said of a call. */
export function answerDecision(
  tool: string,
  { decision, by, reason }: NonNullable<CallApproval['answer']>,
): GateDecision {
  if (decision === 'allow') return { gate: APPROVAL_GATE, decision: 'allow', rule: `by ${by}` };
  const why = reason === undefined ? `"${by}" said no` : `"${by}" said no: ${reason}`;
  return { ...denial(APPROVAL_GATE, 'PERDURE_TOOL_DENIED', { tool, reason: why }), rule: `by ${by}` };
}

/** What is looked at again behind an answer, because it may have changed since the request. It can only deny. */
const LOOKED_AT_AGAIN: ReadonlySet<string> = new Set(['read_only', 'arguments', 'permission']);

/** The gates of a call that a person has answered: those behind the answer, and before them the tool and the rules. */
export function gatesBehindApproval(gates: readonly GateStep[]): readonly GateStep[] {
  const at = gates.findIndex(({ id }) => id === APPROVAL_GATE);
  const again = gates.filter(({ id }) => LOOKED_AT_AGAIN.has(id)).map(onlyDenying);
  return [...again, ...gates.slice(at + 1)];
}

function onlyDenying(gate: GateStep): GateStep {
  return {
    ...gate,
    decide: (call, context) => {
      const result = gate.decide(call, context);
      if (result instanceof Promise) return result;
      return result.decision?.decision === 'deny' ? result : {};
    },
  };
}
