import { PerdureError, type McpServers, type SessionMcp, type SessionScope } from '@perdure/plugin-api';
import type { SessionHome } from './session-home.js';

/** The way from a session's handle to the servers that a plugin keeps for it. */
export function sessionMcp(home: SessionHome): SessionMcp {
  const ask = <Result>(work: (servers: McpServers, session: SessionScope) => Result | Promise<Result>) =>
    home.use(() => {
      const { mcpServers } = home.agent().parts;
      if (mcpServers === undefined) throw new PerdureError('PERDURE_TOKEN_MISSING', { token: 'mcp-servers' });
      return work(mcpServers, home.scope());
    });
  return {
    add: (name, setting) => ask((servers, session) => servers.add(session, name, setting)),
    remove: (name) => ask((servers, session) => servers.remove(session, name)),
    list: () => ask((servers, session) => servers.list(session)),
  };
}
