import type { AgentParts } from '../../host/agent-view.js';
import type { GateContext } from './gate-step.js';
import { cappedMode, strictestCap } from './permission-gates.js';

/**
 * Why a call that runs cannot ask people: it waits in its process, so there must be someone who looks. Nobody does
 * where no policy has people asked, and where a mode spares them. `undefined` where it can.
 */
export function whyNobodyIsAsked(
  { approval, asker, approvalCap }: Pick<AgentParts, 'approval' | 'asker' | 'approvalCap'>,
  { approvals: own, approvalCap: bound }: Pick<GateContext, 'approvals' | 'approvalCap'>,
): string | undefined {
  const mode = cappedMode(own, strictestCap(approvalCap, bound), approval?.mode) ?? approval?.mode ?? 'ask';
  if (mode !== 'ask') return `nobody is asked in the mode "${mode}"`;
  const isAsked = approval !== undefined || (own !== undefined && asker === undefined);
  return isAsked ? undefined : 'no approval policy has people asked';
}
