import { posix } from 'node:path';
import { importsOf, packageOf } from './imports.js';
import { isTestCode, projectOf, rootManifest, type WorkspaceFile } from './workspace.js';

/** The rules, each with what it means. */
export const layeringRules = {
  'relative-import-leaves-project': 'Another package is imported by its name.',
  'deep-import': 'Only what a package exports is imported.',
  undeclared: 'What a package imports is in its package.json.',
  layer: 'Imports follow the arrows between the packages.',
  'node-built-in': 'packages/events and packages/plugin-api run anywhere.',
  tsyringe: 'tsyringe is imported in packages/core/src/host/container.ts only.',
  vendor: 'A vendor library is imported in one plugin.',
} as const;
export type LayeringRule = keyof typeof layeringRules;

export interface Violation {
  readonly rule: LayeringRule;
  readonly path: string;
  readonly specifier: string;
}

/** Packages of this repository that the code of a layer may import. The apps at the top may import all of them. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  events: [],
  'plugin-api': ['@perdure/events'],
  core: ['@perdure/events', '@perdure/plugin-api'],
  testing: ['@perdure/events', '@perdure/plugin-api'],
  client: ['@perdure/events', '@perdure/plugin-api'],
  plugin: ['@perdure/events', '@perdure/plugin-api'],
};
const TESTS_MAY_ADD: Readonly<Record<string, readonly string[]>> = {
  core: ['@perdure/testing'],
  client: ['@perdure/testing'],
  plugin: [
    '@perdure/testing',
    '@perdure/testing/conformance',
    '@perdure/core/testing',
    '@perdure/eventstoredb-emulator',
  ],
};

/** Outside libraries that the framework is built with. Everything else from outside belongs to one plugin. */
const FRAMEWORK: Readonly<Record<string, readonly string[]>> = {
  events: ['zod'],
  'plugin-api': ['zod'],
  core: ['zod', 'tsyringe', 'reflect-metadata'],
  testing: ['zod', 'vitest'],
  client: ['zod'],
  runtime: ['zod'],
  cli: ['zod', 'commander', 'tsx'],
};
const CONTAINER = 'packages/core/src/host/container.ts';

/** Everything that is wrong with what the files import. */
export function layeringViolations(files: readonly WorkspaceFile[]): readonly Violation[] {
  const single = files.flatMap((file) =>
    importsOf(file.text).flatMap((specifier) =>
      rulesBrokenBy(file.path, specifier).map((rule) => ({ rule, path: file.path, specifier })),
    ),
  );
  return [...single, ...sharedVendors(files)];
}

function rulesBrokenBy(path: string, specifier: string): readonly LayeringRule[] {
  const folder = projectOf(path)?.folder ?? 'test';
  if (specifier.startsWith('.')) {
    const target = posix.join(posix.dirname(path), specifier);
    return target.startsWith(`${folder}/`) ? [] : ['relative-import-leaves-project'];
  }
  const layer = layerOf(folder);
  if (specifier.startsWith('node:')) return isPortable(layer) && !isTestCode(path) ? ['node-built-in'] : [];
  const broken: LayeringRule[] = [];
  if (!isDeclared(path, specifier)) broken.push('undeclared');
  if (specifier.startsWith('@perdure/')) {
    if (!isExported(specifier)) broken.push('deep-import');
    if (!isLayered(path, layer, specifier)) broken.push('layer');
    return broken;
  }
  const name = packageOf(specifier);
  if ((name === 'tsyringe' || name === 'reflect-metadata') && path !== CONTAINER) broken.push('tsyringe');
  if (!isTestCode(path) && FRAMEWORK[layer]?.includes(name) === false) broken.push('vendor');
  return broken;
}

/** `packages/x` is the layer `x`, every plugin is the layer `plugin`, and `tools` and `test` may do as they like. */
function layerOf(folder: string): string {
  const [group = '', name = ''] = folder.split('/');
  if (group === 'packages') return name;
  return group === 'plugins' ? 'plugin' : group;
}

function isPortable(layer: string): boolean {
  return layer === 'events' || layer === 'plugin-api';
}

function isLayered(path: string, layer: string, specifier: string): boolean {
  const allowed = ALLOWED[layer];
  if (allowed === undefined || allowed.includes(packageOf(specifier))) return true;
  const added = isTestCode(path) ? (TESTS_MAY_ADD[layer] ?? []) : [];
  return added.includes(specifier);
}

function isExported(specifier: string): boolean {
  const name = packageOf(specifier);
  const target = projectOf(`${folderOf(name)}/package.json`)?.manifest;
  if (target === undefined) return false;
  const subpath = `.${specifier.slice(name.length)}`;
  return Object.keys(target.exports ?? {}).some((key) => {
    const [before = '', after] = key.split('*');
    return after === undefined ? key === subpath : subpath.startsWith(before) && subpath.endsWith(after);
  });
}

function folderOf(name: string): string {
  const short = name.slice('@perdure/'.length);
  return (
    [`packages/${short}`, `plugins/${short}`, `tools/${short}`].find((folder) => projectOf(`${folder}/x`)) ?? short
  );
}

/** Tests may also use the tools of the whole repository. */
const TEST_TOOLS = rootManifest.devDependencies ?? {};

function isDeclared(path: string, specifier: string): boolean {
  const project = projectOf(path);
  if (project === undefined) return true;
  const { manifest } = project;
  const name = packageOf(specifier);
  const ships = { ...manifest.dependencies, ...manifest.peerDependencies };
  if (name in ships || name === manifest.name) return true;
  if (!isTestCode(path) && !isToolOrTest(project.folder)) return false;
  return name in { ...manifest.devDependencies, ...TEST_TOOLS };
}

function isToolOrTest(folder: string): boolean {
  return folder === 'test' || folder.startsWith('tools/');
}

/** Vendor libraries that two plugins import, one violation for each importing file. */
function sharedVendors(files: readonly WorkspaceFile[]): readonly Violation[] {
  const importers = new Map<string, { readonly path: string; readonly folder: string }[]>();
  for (const { path, text } of files) {
    const folder = projectOf(path)?.folder ?? '';
    if (isTestCode(path) || layerOf(folder) !== 'plugin') continue;
    for (const specifier of importsOf(text)) {
      const name = packageOf(specifier);
      if (/^[.]|^node:|^@perdure\//.test(specifier) || name === 'zod') continue;
      importers.set(name, [...(importers.get(name) ?? []), { path, folder }]);
    }
  }
  return [...importers].flatMap(([specifier, places]) =>
    new Set(places.map(({ folder }) => folder)).size < 2
      ? []
      : places.map(({ path }) => ({ rule: 'vendor' as const, path, specifier })),
  );
}
