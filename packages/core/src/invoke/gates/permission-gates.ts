import type { PermissionDecision } from '@perdure/plugin-api';
import type { AgentParts } from '../../host/agent-view.js';
import { refuseLater } from '../refuse-later.js';
import { denial, failedGate, failingClosed, type GateStep } from './gate-step.js';

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

/** A tool may want a person to agree to a call that the rules allow. */
export const confirmationGate: GateStep = {
  id: 'confirmation',
  kind: 'rule',
  digest: '',
  applies: ({ isTrusted, confirmation }) => !isTrusted && confirmation !== undefined,
  decide: ({ permission, confirmation = '' }) => ({
    permission: { ...permission, decision: 'ask', reason: confirmation },
  }),
};

/** A call that is left open: someone is asked, and where there is nobody it is denied. */
export function askGate({ asker }: Pick<AgentParts, 'asker'>): GateStep {
  const id = 'ask';
  return {
    id,
    kind: asker === undefined ? 'rule' : 'waiting',
    digest: '',
    applies: ({ isTrusted, permission }) => !isTrusted && permission?.decision === 'ask',
    decide: ({ request, permission }, { signal }) => {
      if (asker === undefined || permission === undefined) {
        return { decision: denial(id, 'PERDURE_TOOL_NOBODY_TO_ASK', { tool: request.tool }) };
      }
      // A person may take as long as they need; the turn's end ends the question.
      return failingClosed(id, Number.POSITIVE_INFINITY, signal, async (inner) => {
        const answer = await asker.ask(request, permission, inner);
        if (answer === 'allow') return { decision: { gate: id, decision: 'allow' } };
        if (answer !== 'deny') throw new TypeError('it answered neither allow nor deny');
        const { tool } = request;
        return { decision: denial(id, 'PERDURE_TOOL_DENIED', { tool, reason: 'a person said no' }) };
      });
    },
  };
}
