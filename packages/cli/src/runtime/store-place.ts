import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, sep } from 'node:path';
import { defaultStorePath } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import type { Settings } from '../config/settings.js';

/** The database file of the default store, as far as its folders exist with links resolved. */
export function storeFile({ storePath }: Settings, environment: CliContext['environment']): string {
  return realPath(storePath ?? defaultStorePath(environment));
}

/** Whether a path is in a folder. Both are real paths. */
export function isInside(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Tools can read, and when they are allowed to write also change, what is inside the workspace. */
export async function warnOfStoreInside(settings: Settings, { screen, environment, json }: CliContext): Promise<void> {
  const file = storeFile(settings, environment);
  if (json || settings.hasStoreServer || !isInside(file, settings.workspace)) return;
  const warning = `${screen.style.yellow('warning:')} the store ${file} is inside the workspace, where tools reach it`;
  await screen.note(`${warning}; give another workspace, or --store`);
}

function realPath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const folder = dirname(path);
    return folder === path ? path : join(realPath(folder), basename(path));
  }
}
