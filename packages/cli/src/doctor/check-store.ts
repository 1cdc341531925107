import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { openSqliteStores } from '@perdure/runtime';
import { exitCodes } from '../exit-code.js';
import { isInside } from '../runtime/store-place.js';
import { fail, failed, ok, warn, type Check } from './check.js';

/** The folder of the default store: there or to be made, writable, and not where tools reach it. */
export function checkStateFolder(file: string, workspace: string): Check {
  const folder = dirname(file);
  const nearest = nearestExisting(folder);
  try {
    accessSync(nearest, constants.W_OK | constants.X_OK);
  } catch {
    return fail('state', `${nearest} cannot be written`, 'Set XDG_STATE_HOME, or store.path.', exitCodes.store);
  }
  if (!statSync(nearest).isDirectory()) {
    return fail('state', `${nearest} is not a folder`, 'Set XDG_STATE_HOME, or store.path.', exitCodes.store);
  }
  if (isInside(file, workspace)) {
    const fix = 'Keep the store elsewhere (store.path, --store), or use another workspace.';
    return warn('state', `${folder} is inside the workspace ${workspace}, where tools reach it`, fix);
  }
  return ok('state', nearest === folder ? folder : `${folder}, which the first run makes`);
}

/** Opens the store, which compares its end with its tail witness and its heads with its positions. */
export async function checkStore(file: string): Promise<Check> {
  if (!existsSync(file)) return ok('store', `${file} is made by the first run`);
  try {
    const stores = await openSqliteStores({ path: file });
    await stores.close();
    return ok('store', `${file} opens, and nothing is missing at its end (sessions verify looks at every fact)`);
  } catch (error) {
    return failed('store', error);
  }
}

function nearestExisting(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestExisting(dirname(folder));
}
