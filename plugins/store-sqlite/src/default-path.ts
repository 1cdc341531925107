import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Outside of any workspace, where no tool of an agent writes. */
export function defaultPath(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  const state = environment['XDG_STATE_HOME'];
  const folder = state !== undefined && isAbsolute(state) ? state : join(homedir(), '.local', 'state');
  return join(folder, 'perdure', 'perdure.db');
}
