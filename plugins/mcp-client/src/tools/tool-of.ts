import { PerdureError, type Tool, type ToolContext } from '@perdure/plugin-api';
import { failureText, outputOf } from '../output/map-result.js';
import type { McpServer } from '../server/mcp-server.js';
import type { OfferedTool } from './offered-tools.js';

/** A tool of a server as agents use it. */
export function toolOf(server: McpServer, tool: OfferedTool): Tool {
  const { description, schema, effect, confirmation } = tool;
  return {
    ...{ description, inputSchema: schema, effect },
    ...(confirmation === undefined ? {} : { confirmation: () => confirmation }),
    execute: async (input: never, context: ToolContext) => {
      const { abortSignal: signal, idempotencyKey, ask } = context;
      const answer = await server.call({ tool, input, idempotencyKey, signal, ...(ask === undefined ? {} : { ask }) });
      if (answer.result.isError !== true) return outputOf(answer);
      throw new PerdureError('PERDURE_TOOL_FAILED', { tool: tool.name, reason: failureText(answer) });
    },
  };
}
