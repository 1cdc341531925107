import {
  isPerdureError,
  PerdureError,
  reasonOf,
  type McpServerSetting,
  type SessionOptions,
} from '@perdure/plugin-api';
import type { RegisteredHome } from './registered-home.js';
import { sessionConfiguration } from './session-options.js';

/**
 * Gives a session the MCP servers of its options, all of them or none. One that it has here already stays as it is.
 * Throws PERDURE_SESSION_CONFIGURATION naming the member that is wrong, and PERDURE_SESSION_INITIALIZATION naming the
 * server that cannot be used.
 */
export async function giveServers(
  home: RegisteredHome,
  settings: Readonly<Record<string, McpServerSetting>> = {},
): Promise<void> {
  if (Object.keys(settings).length === 0) return;
  const { mcpServers } = home.agent().parts;
  if (mcpServers === undefined) throw notInitialised('mcp', 'no plugin provides MCP servers');
  const session = home.scope();
  const own = mcpServers.list(session).filter(({ owner }) => owner === 'session');
  const missing = Object.entries(settings).filter(([name]) => !own.some((each) => each.name === name));
  const give = async ([name, setting]: readonly [string, McpServerSetting]): Promise<PerdureError | undefined> => {
    try {
      const { state, reason } = await mcpServers.add(session, name, setting);
      return state === 'failed' ? notInitialised(`mcp.${name}`, reason ?? 'it failed') : undefined;
    } catch (error) {
      return problemOf(error, name);
    }
  };
  const problems = (await Promise.all(missing.map(give))).filter((problem) => problem !== undefined);
  const [problem] = problems;
  if (problem === undefined) return;
  await Promise.all(missing.map(([name]) => mcpServers.remove(session, name)));
  throw problem;
}

/** Servers are given to sessions that are made or looked up. Throws PERDURE_SESSION_CONFIGURATION. */
export function refuseServers({ mcp }: SessionOptions): void {
  if (mcp !== undefined) throw sessionConfiguration('mcp', 'add them to the session behind this');
}

/** `name` and `setting.url` are fields of the option here. */
function problemOf(error: unknown, name: string): PerdureError {
  if (!isPerdureError(error, 'PERDURE_INPUT_INVALID')) return notInitialised(`mcp.${name}`, reasonOf(error));
  const { field, reason } = error.data;
  const inside = String(field).replace(/^(?:name|setting)/, '');
  return sessionConfiguration(`mcp.${name}${inside}`, String(reason));
}

function notInitialised(resource: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_SESSION_INITIALIZATION', { resource, reason });
}
