import { createTreeWithEmptyWorkspace } from '@nx/devkit/testing';
import type { Tree } from '@nx/devkit';
import { describe, expect, test } from 'vitest';
import { pluginGenerator } from './generator.js';
import { workspacePluginFiles } from './workspace-plugin-files.js';

function workspace(): Tree {
  const tree = createTreeWithEmptyWorkspace();
  tree.write('tsconfig.json', JSON.stringify({ files: [], references: [{ path: './packages/core' }] }));
  return tree;
}

function jsonAt(tree: Tree, path: string): unknown {
  return JSON.parse(tree.read(path, 'utf8') ?? 'null');
}

describe('the generator of plugins', () => {
  test('makes a package of this repository and adds it to the solution', () => {
    const tree = workspace();
    pluginGenerator(tree, { name: 'my-thing', port: 'tools' });
    for (const [path, text] of workspacePluginFiles({ name: 'my-thing', port: 'tools' }).files) {
      expect(tree.read(`plugins/my-thing/${path}`, 'utf8'), path).toBe(text);
    }
    expect(jsonAt(tree, 'tsconfig.json')).toMatchObject({
      references: [{ path: './packages/core' }, { path: './plugins/my-thing' }],
    });
    expect(jsonAt(tree, 'plugins/my-thing/package.json')).toMatchObject({
      name: '@perdure/my-thing',
      exports: { '.': { '@perdure/source': './src/index.ts' } },
      nx: { tags: ['layer:plugin'] },
      perdure: { plugin: '.', api: 1, provides: ['tools'] },
    });
  });

  test('overwrites nothing', () => {
    const tree = workspace();
    tree.write('plugins/my-thing/notes.txt', 'mine');
    expect(() => pluginGenerator(tree, { name: 'my-thing' })).toThrow('There is something in plugins/my-thing.');
    expect(tree.children('plugins/my-thing')).toEqual(['notes.txt']);
  });

  test.each(['../escape', 'a/b', 'My-Thing', '', '@acme/thing', 'a_b', '-a'])('refuses the name "%s"', (name) => {
    const tree = workspace();
    expect(() => pluginGenerator(tree, { name })).toThrow('The input is not valid at "name"');
    expect(tree.listChanges().filter(({ path }) => path.startsWith('plugins'))).toEqual([]);
  });
});

test.each(['tools', 'event-store'] as const)('a plugin for %s refers to the packages that it names', (port) => {
  const { folder, files } = workspacePluginFiles({ name: 'my-thing', port, description: 'Does my thing well.' });
  expect(folder).toBe('plugins/my-thing');
  const manifest = JSON.parse(files.get('package.json') ?? '') as Record<string, Record<string, string>>;
  const all = Object.keys({ ...manifest['dependencies'], ...manifest['devDependencies'] });
  const own = all
    .filter((name) => name.startsWith('@perdure/'))
    .map((name) => name.replace('@perdure/', '../../packages/'));
  const library = JSON.parse(files.get('tsconfig.lib.json') ?? '') as { references: { path: string }[] };
  expect(library.references.map(({ path }) => path)).toEqual(own.map((path) => `${path}/tsconfig.lib.json`));
  expect(manifest['description']).toBe('Does my thing well.');
  expect([...files.keys()].filter((path) => /vitest|gitignore|build/.test(path))).toEqual([]);
});
