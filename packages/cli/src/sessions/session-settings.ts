import { existsSync } from 'node:fs';
import type { SessionKey } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { resolveSettings, type PlaceFlags, type RuleFlags, type Settings } from '../config/settings.js';
import { openStore } from '../runtime/open-runtime.js';
import { ScreenLogger } from '../terminal/screen-logger.js';
import { findRecorded } from './recorded-session.js';

type Flags = PlaceFlags & RuleFlags;

/**
 * The settings to run a session with: those of the workspace that it was made in, wherever the command is typed. A
 * session that does not exist yet gets those of the place. Throws PERDURE_CONFIGURATION when another workspace is asked
 * for.
 */
export async function settingsOfSession(context: CliContext, key: SessionKey, flags: Flags): Promise<Settings> {
  const here = await resolveSettings(flags);
  const workspace = await recordedWorkspace(context, key, here);
  if (workspace === undefined || workspace === here.workspace) return here;
  if (flags.workspace === undefined) return settingsOfFolder(workspace, flags, here);
  const reason = `the session "${key.id}" works in ${workspace}`;
  throw new PerdureError('PERDURE_CONFIGURATION', { field: 'workspace', reason });
}

/** The same for looking at a session, whose workspace may be gone: what the command line names is taken as it is. */
export async function settingsToReplay(context: CliContext, key: SessionKey, flags: Flags): Promise<Settings> {
  const here = await resolveSettings(flags);
  if (flags.workspace !== undefined || flags.config !== undefined) return here;
  const workspace = await recordedWorkspace(context, key, here);
  if (workspace === undefined || workspace === here.workspace || !existsSync(workspace)) return here;
  return settingsOfFolder(workspace, flags, here);
}

async function recordedWorkspace(context: CliContext, key: SessionKey, here: Settings): Promise<string | undefined> {
  const runtime = await openStore(here, ScreenLogger.silent(context.screen));
  const recorded = await findRecorded(runtime, key).finally(() => runtime.dispose());
  return recorded?.workspace;
}

/** The session was found in the store of this place; the other folder's configuration may name another one. */
async function settingsOfFolder(workspace: string, flags: Flags, here: Settings): Promise<Settings> {
  return { ...(await resolveSettings({ ...flags, workspace })), storePath: here.storePath };
}
