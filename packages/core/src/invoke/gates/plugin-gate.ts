import type { GateDecision } from '@perdure/events';
import type { Gate, GateAnswer } from '@perdure/plugin-api';
import { refuseLater } from '../refuse-later.js';
import { denial, failedGate, failingClosed, type GateStep } from './gate-step.js';

/** A gate of a plugin, kept from doing harm: an error, silence or nonsense denies. */
export function pluginGate(gate: Gate): GateStep {
  const step = { id: gate.id, kind: gate.kind, applies: () => true };
  if (gate.kind === 'rule') {
    return {
      ...step,
      digest: gate.digest,
      decide: ({ request }) => {
        try {
          return { decision: decisionOf(gate.id, request.tool, refuseLater(gate.decide(request))) };
        } catch (error) {
          return { decision: failedGate(gate.id, error) };
        }
      },
    };
  }
  return {
    ...step,
    digest: '',
    decide: ({ request }, { signal }) =>
      failingClosed(gate.id, gate.timeoutMs, signal, async (inner) => ({
        decision: decisionOf(gate.id, request.tool, await gate.decide(request, inner)),
      })),
  };
}

function decisionOf(gate: string, tool: string, answer: GateAnswer): GateDecision {
  if (answer.decision === 'allow') return { gate, decision: 'allow' };
  if (answer.decision !== 'deny') throw new TypeError('it answered neither allow nor deny');
  return denial(gate, 'PERDURE_TOOL_DENIED', { tool, reason: answer.reason });
}
