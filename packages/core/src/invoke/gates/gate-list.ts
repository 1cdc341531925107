import type { Gate } from '@perdure/plugin-api';
import type { AgentParts } from '../../host/agent-view.js';
import { digestOf } from '../../host/sha256.js';
import { inOrder } from '../../hooks/run-hooks.js';
import type { GateStep } from './gate-step.js';
import { budgetGuards } from '../budget.js';
import { budgetGate } from './budget-gate.js';
import { readOnlyGate, recursionGate, repetitionGate } from './call-guards.js';
import { permissionRequestGate, preToolUseGate } from './hook-gates.js';
import { approvalGate, confirmationGate, permissionGate } from './permission-gates.js';
import { pluginGate } from './plugin-gate.js';

type Stage = NonNullable<Gate['stage']>;

/** The gates of an agent, in their order. Plugins add to it at three places. */
export function gateSteps(parts: AgentParts): readonly GateStep[] {
  const { gates, hooks } = parts;
  const at = (event: string) => inOrder(hooks.filter((hook) => hook.event === event));
  const added = (stage: Stage): GateStep[] =>
    gates.filter((gate) => (gate.stage ?? 'before-execution') === stage).map(pluginGate);
  return [
    recursionGate,
    readOnlyGate(parts),
    repetitionGate(parts.limits.maxRepeatedCalls),
    argumentsGate,
    preToolUseGate(at('pre_tool_use')),
    ...added('before-permission'),
    permissionGate(parts),
    confirmationGate,
    ...added('before-approval'),
    permissionRequestGate(at('permission_request')),
    approvalGate(parts),
    ...added('before-execution'),
    budgetGate(budgetGuards(parts)),
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
    problem === undefined
      ? {}
      : { decision: { gate: 'arguments', decision: 'deny', code: problem.code, reason: problem.reason } },
};
