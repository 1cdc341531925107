import {
  definePlugin,
  LOGGER,
  MCP_SERVER_SOURCES,
  MCP_SERVERS,
  SECRETS,
  SESSION_TOOLS,
  type Secrets,
} from '@perdure/plugin-api';
import { mcpConfiguration } from './configuration.js';
import { McpServer, type ServerParts } from './server/mcp-server.js';
import { globalServers } from './sources/global-servers.js';
import { ServerLayer } from './sources/server-layer.js';
import { SessionLayers } from './sources/session-layers.js';
import { sessionServers } from './sources/session-servers.js';
import { version } from './version.js';

/** Without a host that keeps secrets there are none to hide or to refer to. */
const noSecrets: Secrets = { resolve: (text) => text, redact: (text) => text };

/** The tools of MCP servers: of all sessions, and of single ones. */
export const mcpClient = definePlugin({
  name: 'mcp-client',
  api: 1,
  version,
  config: mcpConfiguration.prefault({}),
  provides: [SESSION_TOOLS, MCP_SERVERS],
  wants: [SECRETS, LOGGER, MCP_SERVER_SOURCES],
  setup: ({ config, find, get, provide }) => {
    const logger = find(LOGGER);
    const log: ServerParts['log'] = (level, message, data) => logger?.log(level, message, data);
    const parts: ServerParts = { secrets: find(SECRETS) ?? noSecrets, log };
    // What the host says wrongly is found before anything starts.
    globalServers(config.servers, [], () => undefined);
    const global = new ServerLayer(undefined);
    const layers = new SessionLayers(global);
    provide(SESSION_TOOLS, {
      name: 'mcp-client',
      tools: (session) => layers.of(session).tools(),
      release: (session) => layers.release(session),
    });
    provide(MCP_SERVERS, sessionServers(layers, parts));
    return {
      start: async () => {
        const tell = (source: string, server: string, reason: string): void =>
          log('warn', 'An MCP server of a plugin is left out.', { source, server, reason });
        for (const [name, setting] of globalServers(config.servers, get(MCP_SERVER_SOURCES), tell)) {
          global.own.set(name, new McpServer(name, setting, parts));
        }
        await Promise.all(Array.from(global.own.values(), (server) => server.connect()));
      },
      stop: async () => {
        await layers.dispose();
        await Promise.all(Array.from(global.own.values(), (server) => server.dispose()));
      },
    };
  },
});
