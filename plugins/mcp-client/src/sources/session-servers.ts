import { PerdureError, type McpServers, type McpServerSetting, type SessionScope } from '@perdure/plugin-api';
import { readServer, serverName } from '../configuration.js';
import { McpServer, type ServerParts } from '../server/mcp-server.js';
import type { SessionLayers } from './session-layers.js';

/** What hosts do to the servers of one session. */
export function sessionServers(layers: SessionLayers, parts: ServerParts): McpServers {
  return {
    add: async (session, name, setting) => {
      const server = new McpServer(checkedName(name), checked(setting), parts);
      const { own } = layers.own(session);
      if (own.has(name)) throw invalid('name', `the session has a server "${name}" of its own`);
      own.set(name, server);
      await server.connect();
      const status = layers.of(session).list();
      return status.find((each) => each.name === name && each.owner === 'session') ?? server.status('session', true);
    },
    remove: async (session, name) => {
      const { own } = layers.own(session);
      const server = own.get(name);
      own.delete(name);
      await server?.leave();
      return server !== undefined;
    },
    list: (session: SessionScope) => layers.of(session).list(),
  };
}

function checkedName(name: string): string {
  const read = serverName.safeParse(name);
  if (read.success) return name;
  throw invalid('name', read.error.issues[0]?.message ?? 'not valid');
}

function checked(setting: McpServerSetting) {
  const read = readServer(setting);
  if (read.ok) return read.config;
  throw invalid(['setting', read.field].filter((part) => part !== '').join('.'), read.reason);
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
