import type { Asker, Gate, Hook } from '@perdure/plugin-api';
import type { KillPlan } from './kill-plan.js';

/** The gate, with the points `gate:before` and `gate:after` (it has decided, and nobody knows). They carry its id. */
export function killingGate(gate: Gate, plan: KillPlan): Gate {
  const labels = [gate.id];
  if (gate.kind === 'rule') {
    return {
      id: gate.id,
      kind: 'rule',
      digest: gate.digest,
      decide(call) {
        plan.pass({ point: 'gate:before', labels });
        const answer = gate.decide(call);
        plan.pass({ point: 'gate:after', labels });
        return answer;
      },
    };
  }
  return {
    id: gate.id,
    kind: 'waiting',
    ...(gate.timeoutMs === undefined ? {} : { timeoutMs: gate.timeoutMs }),
    async decide(call, signal) {
      plan.pass({ point: 'gate:before', labels });
      const answer = await gate.decide(call, signal);
      plan.pass({ point: 'gate:after', labels });
      return answer;
    },
  };
}

/** The hook, with the points `hook:before` and `hook:after`. They carry its id. */
export function killingHook(hook: Hook, plan: KillPlan): Hook {
  const { handler } = hook;
  if (handler === undefined) return hook;
  const labels = [hook.id];
  return {
    ...hook,
    async handler(occurrence, signal) {
      plan.pass({ point: 'hook:before', labels });
      const answer = await handler(occurrence, signal);
      plan.pass({ point: 'hook:after', labels });
      return answer;
    },
  };
}

/** The asker, with the points `ask:before` and `ask:after`. They carry the name of the tool that is asked about. */
export function killingAsker(asker: Asker, plan: KillPlan): Asker {
  return {
    async ask(call, decision, signal) {
      plan.pass({ point: 'ask:before', labels: [call.tool] });
      const answer = await asker.ask(call, decision, signal);
      plan.pass({ point: 'ask:after', labels: [call.tool] });
      return answer;
    },
  };
}
