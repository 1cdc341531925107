import type { McpServerSetting, McpServerStatus } from '../ports/mcp.js';

/**
 * The MCP servers of a session in this process. What is added is held by no fact: whoever resumes the session elsewhere
 * brings it along. All throw PERDURE_TOKEN_MISSING where no plugin provides MCP servers.
 */
export interface SessionMcp {
  /**
   * Gives this session, and those that work for it, a server, which hides an inherited one of the same name. Resolves
   * when it is connected or has failed, which its status tells; its tools are there from the next step on. Throws
   * PERDURE_INPUT_INVALID.
   */
  add(name: string, setting: McpServerSetting): Promise<McpServerStatus>;
  /** Takes a server of the session's own away from the next step on. Whether there was one. */
  remove(name: string): Promise<boolean>;
  list(): Promise<readonly McpServerStatus[]>;
}
