import { PerdureError, type McpServerStatus, type Secrets } from '@perdure/plugin-api';
import { readServer, serverName } from './configuration.js';
import { McpServer } from './server/mcp-server.js';

/**
 * Connects to a server, reads its tools and lets it go again: what it offers, or why it cannot be used. Throws
 * PERDURE_CONFIGURATION for a setting that is not one.
 */
export async function inspectServer(name: string, setting: unknown, secrets: Secrets): Promise<McpServerStatus> {
  const named = serverName.safeParse(name);
  const read = readServer(setting);
  if (!named.success) throw invalid(name, named.error.issues[0]?.message ?? 'not valid');
  if (!read.ok) throw invalid([name, read.field].filter((part) => part !== '').join('.'), read.reason);
  const server = new McpServer(name, read.config, { secrets, log: () => undefined });
  try {
    await server.connect();
    return server.status('global', false);
  } finally {
    await server.dispose();
  }
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field: `servers.${field}`, reason });
}
