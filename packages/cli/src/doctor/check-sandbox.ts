import { SANDBOX } from '@perdure/plugin-api';
import { createBubblewrapSandbox, providedTokens } from '@perdure/runtime';
import type { Settings } from '../config/settings.js';
import { ok, warn, type Check } from './check.js';

/** Closes a command in. Without a sandbox runs have no tool for commands, and all else works. */
export async function checkSandbox({ shell, plugins, pluginRoot }: Settings): Promise<Check> {
  if (shell === 'off') return ok('sandbox', 'commands are off');
  const provider = (await providedTokens(plugins, pluginRoot)).get(SANDBOX.name);
  if (provider !== undefined) return ok('sandbox', `that of ${provider}, which is tried out by runs alone`);
  const { usable, issues } = await createBubblewrapSandbox().preflight();
  if (usable) return ok('sandbox', 'bubblewrap closes commands in');
  const fixes = [...new Set(issues.flatMap((issue) => issue.fixes)), 'Or switch commands off: --shell off.'];
  return warn('sandbox', `no commands: ${issues.map(({ message }) => message).join(' ')}`, fixes.join(' '));
}
