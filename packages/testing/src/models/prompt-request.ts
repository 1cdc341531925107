import type { JsonValue } from '@perdure/events';
import {
  contentParts,
  lastUserText,
  messagesSinceUser,
  type ScriptMessage,
  type ScriptRequest,
  type ScriptToolResult,
} from './script-request.js';

/** What a model of the AI SDK is called with. The members named here are those that a scripted one looks at. */
export interface ModelCallOptions {
  readonly prompt: readonly ScriptMessage[];
  readonly tools?: readonly { readonly name: string }[] | undefined;
  readonly abortSignal?: AbortSignal | undefined;
  readonly [option: string]: unknown;
}

/** A call of the AI SDK's model interface as a script sees it. */
export function promptRequest(options: ModelCallOptions, modelId: string): ScriptRequest {
  const { prompt } = options;
  return {
    modelId,
    messages: prompt,
    tools: (options.tools ?? []).map((tool) => tool.name),
    get lastUserText() {
      return lastUserText(prompt);
    },
    get toolResultsSince() {
      return messagesSinceUser(prompt)
        .filter((message) => message.role === 'tool')
        .flatMap((message) => contentParts(message.content))
        .filter((part) => part['type'] === 'tool-result')
        .map(toolResult);
    },
  };
}

function toolResult(part: Readonly<Record<string, unknown>>): ScriptToolResult {
  return {
    providerCallId: String(part['toolCallId']),
    tool: typeof part['toolName'] === 'string' ? part['toolName'] : undefined,
    output: outputValue(part['output']),
  };
}

/** Outputs are `{ type, value }`; a denial has a `reason` instead of a value. */
function outputValue(output: unknown): JsonValue {
  if (typeof output !== 'object' || output === null) return null;
  if ('value' in output) return output.value as JsonValue;
  return 'reason' in output && typeof output.reason === 'string' ? output.reason : null;
}
