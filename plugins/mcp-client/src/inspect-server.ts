import { PerdureError, type McpServerStatus, type Secrets } from '@perdure/plugin-api';
import { readServer, serverName, type ServerConfiguration } from './configuration.js';
import { McpServer } from './server/mcp-server.js';

/** Checks a name and a setting of a server. Throws PERDURE_CONFIGURATION naming the field. */
export function checkMcpServer(name: string, setting: unknown): void {
  checked(name, setting);
}

/**
 * Connects to a server, reads its tools and lets it go again: what it offers, or why it cannot be used. Throws
 * PERDURE_CONFIGURATION for a setting that is not one.
 */
export async function inspectServer(name: string, setting: unknown, secrets: Secrets): Promise<McpServerStatus> {
  const server = new McpServer(name, checked(name, setting), { secrets, log: () => undefined });
  try {
    await server.connect();
    return server.status('global', false);
  } finally {
    await server.dispose();
  }
}

function checked(name: string, setting: unknown): ServerConfiguration {
  const named = serverName.safeParse(name);
  if (!named.success) throw invalid(name, named.error.issues[0]?.message ?? 'not valid');
  const read = readServer(setting);
  if (read.ok) return read.config;
  throw invalid([name, read.field].filter((part) => part !== '').join('.'), read.reason);
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field: `mcp.servers.${field}`, reason });
}
