import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { PLUGIN_API, type Plugin } from '@perdure/plugin-api';
import { projects, published, root, rootManifest, type Project } from './workspace.js';

const plugins = published.filter(({ folder }) => folder.startsWith('plugins/'));
const named = (projects: readonly Project[]): [string, Project][] => projects.map((one) => [one.folder, one]);

function layerTag(folder: string): string {
  const [group, name = ''] = folder.split('/');
  const ofPackages: Readonly<Record<string, string>> = { 'plugin-api': 'api', runtime: 'app', cli: 'app' };
  return `layer:${group === 'plugins' ? 'plugin' : (ofPackages[name] ?? name)}`;
}

describe('package.json', () => {
  test.each(named(published))('%s is named after its folder and can be published', (folder, { manifest }) => {
    expect(manifest).toMatchObject({
      name: `@perdure/${basename(folder)}`,
      description: expect.stringMatching(/^[A-Za-z].{10,}\.$/) as unknown,
      license: 'Apache-2.0',
      type: 'module',
      engines: { node: rootManifest.engines?.['node'] },
      publishConfig: { access: 'public' },
      files: expect.arrayContaining(['dist', 'README.md', '!**/*.tsbuildinfo']) as unknown,
    });
    expect(manifest['nx']).toMatchObject({ tags: [layerTag(folder)], targets: { lint: {}, test: {} } });
    expect(manifest.private).toBeUndefined();
  });

  test.each(named(published))(
    '%s exports its sources to this repository and its build to others',
    (_, { manifest }) => {
      const entries = Object.entries(manifest.exports ?? {}).filter(([, target]) => typeof target === 'object');
      expect(entries.map(([subpath]) => subpath)).toContain('.');
      expect(manifest.exports?.['./package.json']).toBe('./package.json');
      for (const [, target] of entries) {
        const source = String(Reflect.get(target as object, '@perdure/source'));
        const built = source.replace('./src/', './dist/').replace(/\.ts$/, '');
        // The order matters: the first condition that fits is taken.
        expect(Object.entries(target as object)).toEqual([
          ['@perdure/source', source],
          ['types', `${built}.d.ts`],
          ['default', `${built}.js`],
        ]);
      }
    },
  );

  test.each(named(published))('%s depends on exact versions, and on its neighbours as they are', (_, { manifest }) => {
    const versions = new Map(projects.map(({ manifest: { name, version } }) => [name, version]));
    const all = { ...manifest.dependencies, ...manifest.devDependencies, ...manifest.peerDependencies };
    for (const [name, range] of Object.entries(all)) {
      expect(range, name).toMatch(/^\d+\.\d+\.\d+$/);
      if (name.startsWith('@perdure/')) expect(range, name).toBe(versions.get(name));
    }
  });

  test.each(named(plugins))('%s says of its plugin what the plugin says of itself', async (_, { manifest }) => {
    const module = (await import(manifest.name)) as { readonly default?: Plugin };
    const plugin = module.default;
    expect(plugin, `${manifest.name} has a plugin as its default export`).toBeDefined();
    expect(plugin).toMatchObject({ name: basename(manifest.name), api: PLUGIN_API, version: manifest.version });
    const provides = plugin?.provides.map((token) => token.name);
    expect(manifest['perdure']).toEqual({ plugin: '.', api: plugin?.api, provides });
  });

  test('the packages of the framework have one version', () => {
    const framework = published.filter(({ folder }) => folder.startsWith('packages/'));
    expect(new Set(framework.map(({ manifest: { version } }) => version)).size).toBe(1);
  });

  test('the lock names no host', () => {
    expect(readFileSync(join(root, 'package-lock.json'), 'utf8')).not.toMatch(/"resolved": "https?:/);
  });
});
