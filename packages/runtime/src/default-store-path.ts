import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Where the default store keeps its database when no path is given: in the user's state folder. */
export function defaultStorePath(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const state = environment['XDG_STATE_HOME'];
  const folder = state !== undefined && isAbsolute(state) ? state : join(homedir(), '.local', 'state');
  return join(folder, 'perdure', 'perdure.db');
}
