import { PerdureError, type McpServerSource } from '@perdure/plugin-api';
import { readServer, serverName, type ServerConfiguration } from '../configuration.js';

/**
 * The servers of all sessions: those that plugin packages bring, and before them, name by name, those that the host
 * configures. What the host says must be right; a package with a wrong one harms that one alone.
 *
 * Throws PERDURE_CONFIGURATION naming the field.
 */
export function globalServers(
  configured: Readonly<Record<string, unknown>>,
  sources: readonly McpServerSource[],
  tell: (source: string, server: string, reason: string) => void,
): ReadonlyMap<string, ServerConfiguration> {
  const servers = new Map<string, ServerConfiguration>();
  for (const source of sources) {
    for (const [name, setting] of Object.entries(source.servers)) {
      const read = readServer(setting);
      if (!serverName.safeParse(name).success) tell(source.name, name, 'its name cannot be used');
      else if (!read.ok) tell(source.name, name, `"${read.field}" ${read.reason}`);
      else if (servers.has(name)) tell(source.name, name, 'another package brings a server of this name');
      else servers.set(name, read.config);
    }
  }
  for (const [name, setting] of Object.entries(configured)) {
    const read = readServer(setting);
    if (!read.ok) {
      const field = ['servers', name, read.field].filter((part) => part !== '').join('.');
      throw new PerdureError('PERDURE_CONFIGURATION', { field, reason: read.reason });
    }
    servers.set(name, read.config);
  }
  return servers;
}
