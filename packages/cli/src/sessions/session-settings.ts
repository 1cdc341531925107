import type { SessionKey } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { resolveSettings, type PlaceFlags, type RuleFlags, type Settings } from '../config/settings.js';
import { openStore } from '../runtime/open-runtime.js';
import { ScreenLogger } from '../terminal/screen-logger.js';
import { findRecorded } from './recorded-session.js';

/**
 * The settings to run a session with: those of the workspace that it was made in, wherever the command is typed. A session
 * that does not exist yet gets those of the place. Throws PERDURE_CONFIGURATION when another workspace is asked for.
 */
export async function settingsOfSession(
  context: CliContext,
  key: SessionKey,
  flags: PlaceFlags & RuleFlags,
): Promise<Settings> {
  const here = await resolveSettings(flags);
  const runtime = await openStore(here, ScreenLogger.silent(context.screen));
  const recorded = await findRecorded(runtime, key).finally(() => runtime.dispose());
  const workspace = recorded?.workspace;
  if (workspace === undefined || workspace === here.workspace) return here;
  if (flags.workspace !== undefined) {
    const reason = `the session "${key.id}" works in ${workspace}`;
    throw new PerdureError('PERDURE_CONFIGURATION', { field: 'workspace', reason });
  }
  // The session was found in this store; the other folder's configuration may name another one.
  return { ...(await resolveSettings({ ...flags, workspace })), storePath: here.storePath };
}
