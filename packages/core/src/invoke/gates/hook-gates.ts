import type { GateDecision, JsonValue } from '@perdure/events';
import { errorMessage, type Hook, type HookEvent, type HookOccurrence } from '@perdure/plugin-api';
import { matches } from '../../hooks/hook-matcher.js';
import { askHooks, type HookOutcome } from '../../hooks/run-hooks.js';
import { failedGate, type GateContext, type GatedCall, type GateStep } from './gate-step.js';

/** What a host's own code says of a call before it is looked at: it may block it, and rewrite its arguments. */
export function preToolUseGate(hooks: readonly Hook[]): GateStep {
  const id = 'pre_tool_use';
  return {
    id,
    kind: 'waiting',
    digest: '',
    applies: (call) => chosen(hooks, call).length > 0,
    decide: async (call, context) => {
      const payload = { ...subjectOf(call, context), recent_tools: context.recentTools() };
      const outcome = await ask('pre_tool_use', chosen(hooks, call), payload, context);
      if (outcome.action !== 'continue') return { decision: refusal(id, call, outcome) };
      if (outcome.modified === undefined) return { decision: { gate: id, decision: 'allow' } };
      const input = argumentsIn(outcome.modified);
      if (input === undefined)
        return { decision: failedGate(id, new TypeError('it modified something else than args')) };
      return { decision: { gate: id, decision: 'allow' }, input };
    },
  };
}

/** A host's own code may answer in the place of a person. */
export function permissionRequestGate(hooks: readonly Hook[]): GateStep {
  const id = 'permission_request';
  return {
    id,
    kind: 'waiting',
    digest: '',
    applies: (call) => call.permission?.decision === 'ask' && chosen(hooks, call).length > 0,
    decide: async (call, context) => {
      const outcome = await ask('permission_request', chosen(hooks, call), subjectOf(call, context), context);
      if (outcome.action !== 'continue') return { decision: refusal(id, call, outcome) };
      const answer = answerIn(outcome.modified);
      if (answer === 'allow') {
        return { decision: { gate: id, decision: 'allow' }, permission: { decision: 'allow', rule: id } };
      }
      if (answer === 'deny') {
        return {
          decision: refusal(id, call, {
            action: 'block',
            hook: id,
            reason: outcome.reason ?? 'denied',
            hasFailed: false,
          }),
        };
      }
      if (answer === undefined) return {};
      return { decision: failedGate(id, new TypeError('it decided neither allow nor deny')) };
    },
  };
}

function chosen(hooks: readonly Hook[], { request }: GatedCall): readonly Hook[] {
  if (hooks.length === 0) return hooks;
  const target = { sessionId: request.sessionId, tool: request.tool, args: request.input };
  return hooks.filter((hook) => matches(hook, target));
}

function ask<Event extends HookEvent>(
  event: Event,
  hooks: readonly Hook[],
  payload: HookOccurrence<Event>['payload'],
  { signal }: GateContext,
): Promise<HookOutcome> {
  return askHooks(hooks, { event_type: event, payload }, signal);
}

function subjectOf({ request }: GatedCall, { subject }: GateContext) {
  const { callId, tool, input, workspace, origin } = request;
  return { ...subject(), tool_id: callId, tool, args: input, working_directory: workspace ?? null, origin };
}

function refusal(
  gate: string,
  { request }: GatedCall,
  outcome: Exclude<HookOutcome, { action: 'continue' }>,
): GateDecision {
  if (outcome.action === 'block' && outcome.hasFailed) {
    return { gate, decision: 'deny', code: 'PERDURE_GATE_FAILED', reason: outcome.reason };
  }
  const again = outcome.action === 'retry' ? ` Try again after ${outcome.delayMs} ms.` : '';
  const reason = `${errorMessage('PERDURE_TOOL_DENIED', { tool: request.tool, reason: outcome.reason })}${again}`;
  return { gate, decision: 'deny', code: 'PERDURE_TOOL_DENIED', reason, rule: `hook:${outcome.hook}` };
}

function argumentsIn(modified: JsonValue): JsonValue | undefined {
  if (typeof modified !== 'object' || modified === null || Array.isArray(modified)) return undefined;
  return (modified as Readonly<Record<string, JsonValue>>)['args'];
}

function answerIn(modified: JsonValue | undefined): JsonValue | undefined {
  if (modified === undefined) return undefined;
  if (typeof modified !== 'object' || modified === null || Array.isArray(modified)) return null;
  return (modified as Readonly<Record<string, JsonValue>>)['decision'] ?? null;
}
