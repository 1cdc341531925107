import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PerdureError } from '@perdure/plugin-api';

export const CONFIG_NAMES = ['perdure.config.ts', 'perdure.config.mjs', 'perdure.config.json'] as const;

/**
 * The configuration file of a folder: the one in it, or else in the nearest folder above that has one. A file that is
 * found is run, so that it must belong to this user or to root. Throws PERDURE_CONFIGURATION.
 */
export function findConfig(folder: string, user: number | undefined = process.getuid?.()): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const [found, other] = CONFIG_NAMES.map((name) => join(at, name)).filter((path) => existsSync(path));
    if (found !== undefined) {
      if (other !== undefined) throw configuration(`there are two: ${found} and ${other}`);
      refuseForeign(found, user);
      return found;
    }
    if (dirname(at) === at) return undefined;
  }
}

function refuseForeign(file: string, user: number | undefined): void {
  // Systems without user ids have no such owner to ask for.
  if (user === undefined) return;
  const { uid } = statSync(file);
  if (uid === user || uid === 0) return;
  throw configuration(`${file} belongs to another user; name it with --config if you trust it`);
}

function configuration(reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field: 'config', reason });
}
