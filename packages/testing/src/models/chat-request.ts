import type { JsonValue } from '@perdure/events';
import { z } from 'zod';
import { lastUserText, messagesSinceUser, type ScriptRequest, type ScriptToolResult } from './script-request.js';

const chatToolCall = z.looseObject({
  id: z.string(),
  type: z.literal('function'),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const chatMessage = z.looseObject({
  role: z.enum(['system', 'developer', 'user', 'assistant', 'tool']),
  content: z.union([z.string(), z.array(z.looseObject({ type: z.string() })), z.null()]).optional(),
  tool_calls: z.array(chatToolCall).optional(),
  tool_call_id: z.string().optional(),
});
export type ChatMessage = z.output<typeof chatMessage>;

/** The body of `POST /v1/chat/completions`. Members that are not listed are kept. */
export const chatRequest = z.looseObject({
  model: z.string(),
  messages: z.array(chatMessage).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  tools: z
    .array(z.looseObject({ type: z.literal('function'), function: z.looseObject({ name: z.string() }) }))
    .nullish(),
});
export type ChatRequest = z.output<typeof chatRequest>;

/** A chat request as a script sees it. */
export function requestOfChat(request: ChatRequest): ScriptRequest {
  return {
    modelId: request.model,
    messages: request.messages,
    tools: (request.tools ?? []).map((tool) => tool.function.name),
    lastUserText: lastUserText(request.messages),
    toolResultsSince: toolResultsSince(request.messages),
  };
}

/** Ids repeat from answer to answer, so a result belongs to the nearest call of its id before it. */
function toolResultsSince(messages: readonly ChatMessage[]): readonly ScriptToolResult[] {
  const names = new Map<string, string>();
  const results: ScriptToolResult[] = [];
  for (const message of messagesSinceUser(messages)) {
    for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
    if (message.role !== 'tool') continue;
    const providerCallId = message.tool_call_id ?? '';
    results.push({ providerCallId, tool: names.get(providerCallId), output: outputOf(message.content) });
  }
  return results;
}

/** The body was JSON, so its parts are. */
function outputOf(content: ChatMessage['content']): JsonValue {
  return typeof content === 'string' ? content : ((content ?? null) as JsonValue);
}
