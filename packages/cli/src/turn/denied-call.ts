import type { EventEnvelopeV1, JsonValue } from '@perdure/events';
import {
  PERMISSION,
  TOOLS,
  type PermissionPolicy,
  type Tool,
  type ToolCallRequest,
  type Tools,
} from '@perdure/plugin-api';
import type { PerdureRuntime } from '@perdure/runtime';
import type { DeniedCall } from './turn-reporter.js';

/** Where the tools and the policy of a session are. */
export interface CallGround {
  readonly runtime: PerdureRuntime;
  /** The tools that the agent has beside those of plugins. */
  readonly tools: Tools;
  readonly session: string;
  readonly workspace: string | undefined;
}

/** The call that an event says was denied, with the rule by which the policy would have allowed it. */
export function deniedCall({ type, payload }: EventEnvelopeV1, ground: CallGround): DeniedCall | undefined {
  if (type !== 'permission_denied') return undefined;
  const { tool_id: callId, tool_name: tool, args = {}, reason, code } = payload;
  const denied = { callId: String(callId), tool: String(tool), reason: String(reason), code: String(code) };
  // Any other denial stands whatever is allowed beside it.
  if (code !== 'PERDURE_TOOL_NOBODY_TO_ASK') return denied;
  const policy = ground.runtime.services.container.find(PERMISSION);
  const rule = policy && suggestionFor(policy, denied, args, ground);
  return rule === undefined ? denied : { ...denied, rule };
}

function suggestionFor(
  policy: PermissionPolicy,
  { callId, tool: name }: DeniedCall,
  input: JsonValue,
  ground: CallGround,
): string | undefined {
  const tool = findTool(name, ground);
  // What a person must agree to is allowed by no rule.
  if (tool?.confirmation?.(input as never) !== undefined) return undefined;
  const request: ToolCallRequest = {
    callId,
    tool: name,
    input,
    effect: tool?.effect ?? 'once',
    origin: 'model',
    sessionId: ground.session,
    turnId: undefined,
    workspace: ground.workspace,
    subjects: tool?.permissionSubjects?.(input as never) ?? [JSON.stringify(input)],
  };
  return policy.decide(request).suggestion;
}

function findTool(name: string, { runtime, tools, workspace }: CallGround): Tool | undefined {
  const sources = runtime.services.container.get(TOOLS);
  return tools[name] ?? sources.map((source) => source.tools({ workspace })[name]).find((tool) => tool !== undefined);
}
