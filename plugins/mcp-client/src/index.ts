export { checkMcpServer, inspectServer } from './inspect-server.js';
export { mcpClient, mcpClient as default } from './mcp-client.js';
export type { McpOptions } from './configuration.js';
