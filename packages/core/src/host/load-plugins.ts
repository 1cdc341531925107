import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isPerdureError, PerdureError, PLUGIN_API, reasonOf, type Plugin, type PluginLike } from '@perdure/plugin-api';
import { z } from 'zod';
import { isObject } from '../session/session-input.js';
import { narrowPlugin } from './narrow-plugin.js';

/** A plugin with the configuration that its schema made. */
export interface ConfiguredPlugin {
  readonly plugin: Plugin;
  readonly config: unknown;
}

const manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  perdure: z.looseObject({ plugin: z.string(), api: z.int(), provides: z.array(z.string()) }),
});

/** What a plugin's package.json says of it, read without running any of its code. */
export interface PluginManifest {
  readonly name: string;
  readonly version: string;
  readonly api: number;
  readonly provides: readonly string[];
  /** Absolute path of its folder. */
  readonly folder: string;
}

/** Reads the manifest of an installed package. Throws PERDURE_PLUGIN_NOT_FOUND or PERDURE_PLUGIN_INVALID. */
export async function readManifest(name: string, from: string): Promise<PluginManifest> {
  const path = resolveFrom(from, `${name}/package.json`, name);
  const parsed = manifest.safeParse(JSON.parse(await readFile(path, 'utf8')));
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const field = `package.json ${issue?.path.join('.') ?? ''}`;
    throw new PerdureError('PERDURE_PLUGIN_INVALID', { plugin: name, field, reason: issue?.message ?? 'not valid' });
  }
  const { version, perdure } = parsed.data;
  return { name, version, api: perdure.api, provides: perdure.provides, folder: join(path, '..') };
}

/**
 * Loads plugins given as objects or by package name, in the order given, and checks their configuration. Packages are
 * looked for from the folder `from`. A package made for another api is not run.
 */
export async function loadPlugins(plugins: readonly PluginLike[], from: string): Promise<readonly ConfiguredPlugin[]> {
  return Promise.all(
    plugins.map(async (like) => {
      const named = isObject(like) && 'plugin' in like ? like : { plugin: like };
      const plugin = typeof named.plugin === 'string' ? await importPlugin(named.plugin, from) : named.plugin;
      assertPlugin(plugin);
      return { plugin: narrowPlugin(plugin, named.only), config: configure(plugin, named.config) };
    }),
  );
}

async function importPlugin(name: string, from: string): Promise<Plugin> {
  const { api } = await readManifest(name, from);
  if (api !== PLUGIN_API) throw mismatch(name, api);
  try {
    const module = (await import(pathToFileURL(resolveFrom(from, name, name)).href)) as { readonly default?: Plugin };
    if (module.default !== undefined) return module.default;
  } catch (error) {
    if (isPerdureError(error)) throw error;
    throw new PerdureError('PERDURE_PLUGIN_NOT_FOUND', { plugin: name, reason: reasonOf(error) }, { cause: error });
  }
  throw new PerdureError('PERDURE_PLUGIN_INVALID', {
    plugin: name,
    field: 'default',
    reason: 'the package exports no plugin',
  });
}

function resolveFrom(from: string, specifier: string, name: string): string {
  try {
    return createRequire(join(from, 'package.json')).resolve(specifier);
  } catch (error) {
    throw new PerdureError('PERDURE_PLUGIN_NOT_FOUND', { plugin: name, reason: reasonOf(error) }, { cause: error });
  }
}

function assertPlugin(plugin: Plugin): void {
  const given = (plugin as Partial<Plugin> | null | undefined) ?? {};
  const { name, api, setup, config } = given;
  const refuse = (field: string, reason: string): never => {
    throw new PerdureError('PERDURE_PLUGIN_INVALID', { plugin: reasonOf(name), field, reason });
  };
  if (typeof name !== 'string' || name === '' || typeof setup !== 'function') return refuse('name', 'it is no plugin');
  if (api !== PLUGIN_API) throw mismatch(name, api as number);
  if (typeof config?.safeParse !== 'function') return refuse('config', 'it is no schema');
  for (const field of ['provides', 'needs', 'wants'] as const) {
    if (!Array.isArray(given[field])) return refuse(field, 'it is a list of tokens');
  }
}

function mismatch(plugin: string, actual: number): PerdureError {
  return new PerdureError('PERDURE_PLUGIN_API_MISMATCH', { plugin, actual, expected: PLUGIN_API });
}

function configure(plugin: Plugin, config: unknown): unknown {
  const parsed = plugin.config.safeParse(config ?? {});
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = ['config', ...(issue?.path ?? []), ...unknown].join('.');
  throw new PerdureError('PERDURE_PLUGIN_INVALID', {
    plugin: plugin.name,
    field,
    reason: issue?.message ?? 'not valid',
  });
}
