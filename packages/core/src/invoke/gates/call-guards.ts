import { denial, type GateStep } from './gate-step.js';

/** A call is no part of a call of the same tool, however far up that is: it could go on for ever. */
export const recursionGate: GateStep = {
  id: 'recursion',
  kind: 'rule',
  digest: '',
  applies: ({ request }) => request.within?.includes(request.tool) === true,
  decide: ({ request: { tool, within = [] } }) => ({
    decision: denial('recursion', 'PERDURE_TOOL_RECURSION', { tool, within: [...within, tool].join(' > ') }),
  }),
};

/** An agent that may only read, and the parts of its calls with it. */
export function readOnlyGate({ readOnly }: { readonly readOnly: boolean }): GateStep {
  return {
    id: 'read_only',
    kind: 'rule',
    digest: String(readOnly),
    applies: ({ request }) => readOnly && request.effect !== 'read',
    decide: ({ request: { tool } }) => ({ decision: denial('read_only', 'PERDURE_TOOL_READ_ONLY', { tool }) }),
  };
}

/** A model that asks for the same again and again is told so; it gets another chance, and then its turn ends. */
export function repetitionGate(maxRepeatedCalls: number): GateStep {
  return {
    id: 'repetition',
    kind: 'rule',
    digest: String(maxRepeatedCalls),
    applies: ({ request }) => request.origin === 'model',
    decide: ({ request: { tool, callId } }, { timesInARow }) => {
      const times = timesInARow(callId, maxRepeatedCalls + 1);
      if (times <= maxRepeatedCalls) return {};
      return { decision: denial('repetition', 'PERDURE_TOOL_REPEATED', { tool, times: maxRepeatedCalls }) };
    },
  };
}
