import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { readManifest } from '@perdure/core';
import { PerdureError, type Plugin } from '@perdure/plugin-api';
import { defaultPlugins } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { resolveSettings, type PlaceFlags } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { addedPlugins } from '../runtime/added-plugins.js';
import { jsonText } from '../terminal/json-text.js';
import { formatTable } from '../terminal/table.js';

interface ListedPlugin {
  readonly name: string;
  readonly version: string;
  /** `default`: there by itself; `installed`: a package that a configuration can name. */
  readonly kind: 'default' | 'installed';
  readonly provides: readonly string[];
  /** Why the package cannot be used. */
  readonly problem?: string;
}

/** `perdure plugins list`: the default plugins, and the packages with a manifest beside the configuration. */
export async function pluginsList(context: CliContext, flags: PlaceFlags): Promise<number> {
  const settings = await resolveSettings(flags);
  const { pluginRoot } = settings;
  const added = (await addedPlugins(settings)).map(({ plugin }) => plugin);
  const defaults = [...defaultPlugins, ...added].map(ofDefault);
  const others = (await installed(pluginRoot)).filter(({ name }) => !defaults.some((each) => isSame(each.name, name)));
  const listed = [...defaults, ...others];
  const { out, outStyle } = context.screen;
  if (context.json) {
    await out.line(jsonText(listed));
    return exitCodes.completed;
  }
  const rows = listed.map(({ name, version, kind, provides, problem }) => [
    name,
    version,
    kind,
    problem ?? provides.join(', '),
  ]);
  const width = out.isTerminal ? out.width : Number.POSITIVE_INFINITY;
  const [head = '', ...lines] = formatTable([['NAME', 'VERSION', 'KIND', 'PROVIDES'], ...rows], width);
  await out.line(outStyle.bold(head));
  for (const line of lines) await out.line(line);
  return exitCodes.completed;
}

/** A default plugin may be there as a package too. */
function isSame(plugin: string, packageName: string): boolean {
  return packageName === `@perdure/${plugin}`;
}

function ofDefault({ name, version, provides }: Pick<Plugin, 'name' | 'version' | 'provides'>): ListedPlugin {
  return { name, version, kind: 'default', provides: provides.map((token) => token.name) };
}

/** Reads manifests and runs nothing. */
async function installed(from: string): Promise<readonly ListedPlugin[]> {
  const folder = nearestModules(from);
  if (folder === undefined) return [];
  const listed: ListedPlugin[] = [];
  for (const name of await packageNames(folder)) {
    if (await hasManifest(join(folder, name))) listed.push(await read(name, from));
  }
  return listed;
}

async function read(name: string, from: string): Promise<ListedPlugin> {
  try {
    const { version, provides } = await readManifest(name, from);
    return { name, version, kind: 'installed', provides };
  } catch (error) {
    if (!(error instanceof PerdureError)) throw error;
    return { name, version: '?', kind: 'installed', provides: [], problem: error.message };
  }
}

function nearestModules(from: string): string | undefined {
  for (let at = from; ; at = dirname(at)) {
    const folder = join(at, 'node_modules');
    if (existsSync(folder)) return folder;
    if (dirname(at) === at) return undefined;
  }
}

async function packageNames(folder: string): Promise<readonly string[]> {
  const names = (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();
  const scoped = names.filter((name) => name.startsWith('@'));
  const inScopes = await Promise.all(
    scoped.map(async (scope) => (await readdir(join(folder, scope))).sort().map((name) => `${scope}/${name}`)),
  );
  return [...inScopes.flat(), ...names.filter((name) => !name.startsWith('@'))];
}

async function hasManifest(folder: string): Promise<boolean> {
  const file = join(folder, 'package.json');
  if (!existsSync(file)) return false;
  try {
    const manifest: unknown = JSON.parse(await readFile(file, 'utf8'));
    return typeof manifest === 'object' && manifest !== null && 'perdure' in manifest;
  } catch {
    // Somebody else's package.json that is no JSON is no plugin's either.
    return false;
  }
}
