import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isPerdureError, PerdureError, type Plugin, type PluginChoice } from '@perdure/plugin-api';
import { defaultStorePath, storeSqlite } from '@perdure/runtime';

const POSTGRES = '@perdure/store-postgres';
const EVENT_STORE_DB = '@perdure/store-eventstoredb';

/** The packages with the stores that `--store` can name by an address, by its scheme. */
const PACKAGES: Readonly<Record<string, string>> = {
  postgres: POSTGRES,
  postgresql: POSTGRES,
  esdb: EVENT_STORE_DB,
  'esdb+discover': EVENT_STORE_DB,
};

/** Packages that are installed beside this command are found too. */
export const OWN_FOLDER = dirname(fileURLToPath(import.meta.url));

/** What is no path of a file; one letter would be a drive. */
const ADDRESS = /^([a-z][a-z0-9+.-]+):\/\//i;

export function isAddress(store: string): boolean {
  return ADDRESS.test(store);
}

/**
 * The plugins that make the store of an address: that of the server, and for EventStoreDB a file of this machine beside
 * it, with what can be made anew. Nothing connects here. Throws PERDURE_CONFIGURATION for an address of another kind
 * and PERDURE_PLUGIN_NOT_FOUND when the package is not installed; neither holds the address.
 *
 * @param folders from which the package is looked for, in order
 */
export async function storePlugins(address: string, folders: readonly string[]): Promise<readonly PluginChoice[]> {
  const scheme = ADDRESS.exec(address)?.[1]?.toLowerCase() ?? '';
  const name = PACKAGES[scheme];
  if (name === undefined) {
    const known = Object.keys(PACKAGES).map((each) => `${each}://`);
    const reason = `there is no store for ${scheme}://; it is a file or begins with ${known.join(', ')}`;
    throw new PerdureError('PERDURE_CONFIGURATION', { field: '--store', reason });
  }
  const plugin = await installedPlugin(name, folders);
  if (name === POSTGRES) return [{ plugin, config: { url: address } }];
  return [
    { plugin, config: { connectionString: address } },
    {
      plugin: storeSqlite,
      config: { path: localFile(address) },
      only: ['projection-store', 'snapshot-store'],
    },
  ];
}

/** The same address without what is secret in it, to be shown. */
export function withoutSecrets(address: string): string {
  return address
    .replace(/^([a-z][a-z0-9+.-]+:\/\/[^:@/?]*):.*@/i, '$1:***@')
    .replace(/([?&][^=&]*(?:pass|secret|token|key)[^=&]*=)[^&]*/gi, '$1***');
}

/** What the store of an address failed with, as the command line is to be told it. */
export function storeFailure(error: unknown): unknown {
  if (!isPerdureError(error, 'PERDURE_PLUGIN_FAILED') || !isPerdureError(error.cause)) return error;
  const isStore = Object.values(PACKAGES).some((name) => name.endsWith(`/${String(error.data['plugin'])}`));
  if (!isStore) return error;
  if (error.cause.code !== 'PERDURE_INPUT_INVALID') return error.cause;
  const reason = String(error.cause.data['reason']);
  return new PerdureError('PERDURE_CONFIGURATION', { field: '--store', reason }, { cause: error });
}

async function installedPlugin(name: string, folders: readonly string[]): Promise<Plugin> {
  for (const folder of folders) {
    const file = resolvedFrom(folder, name);
    if (file === undefined) continue;
    const module = (await import(pathToFileURL(file).href)) as { readonly default?: Plugin };
    if (module.default !== undefined) return module.default;
  }
  throw new PerdureError('PERDURE_PLUGIN_NOT_FOUND', { plugin: name, reason: `--store needs it: npm install ${name}` });
}

function resolvedFrom(folder: string, name: string): string | undefined {
  try {
    return createRequire(join(folder, 'package.json')).resolve(name);
  } catch {
    return undefined;
  }
}

/** One for each server, whoever connects to it. */
function localFile(address: string): string {
  const server = withoutSecrets(address).replace(/\/\/.*@/, '//');
  const digest = createHash('sha256').update(server).digest('hex').slice(0, 16);
  return join(dirname(defaultStorePath()), `eventstoredb-${digest}.db`);
}
