import { createRequire } from 'node:module';
import { isPerdureError } from '@perdure/plugin-api';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { newPluginFiles, newPluginPorts, type NewPlugin } from './new-plugin-files.js';
import { ownVersion } from './own-version.js';
import { newPluginTools } from './project-files.js';

const plugin: NewPlugin = { name: '@acme/notes', port: 'tools', version: '1.2.3' };

function manifestOf(files: ReadonlyMap<string, string>): Record<string, Record<string, unknown>> {
  return JSON.parse(files.get('package.json') ?? '') as Record<string, Record<string, unknown>>;
}

function problemOf(options: object): unknown {
  try {
    newPluginFiles({ ...plugin, ...options } as NewPlugin);
    return undefined;
  } catch (error) {
    if (isPerdureError(error, 'PERDURE_INPUT_INVALID')) return error.data['field'];
    throw error;
  }
}

describe.each(newPluginPorts)('the files of a new plugin for the port %s', (port) => {
  const files = newPluginFiles({ ...plugin, port });

  test('are a whole package', () => {
    expect([...files.keys()]).toEqual(
      expect.arrayContaining([
        '.gitignore',
        'README.md',
        'package.json',
        'src/conformance.test.ts',
        'src/index.ts',
        'src/plugin.ts',
        'tsconfig.json',
        'vitest.config.ts',
      ]),
    );
    for (const [path, text] of files) {
      expect(path).toMatch(/^[A-Za-z.][A-Za-z./-]*$/);
      expect(text.endsWith('\n') && !text.endsWith('\n\n'), path).toBe(true);
      expect(Math.max(...text.split('\n').map((line) => line.length)), path).toBeLessThanOrEqual(120);
    }
  });

  test('are sources that can be parsed', () => {
    for (const [path, text] of files) {
      if (!path.endsWith('.ts')) continue;
      const { diagnostics } = ts.transpileModule(text, { reportDiagnostics: true, fileName: path });
      expect(diagnostics, path).toEqual([]);
    }
  });

  test('say what the plugin is, and depend on exactly the version asked for', () => {
    const manifest = manifestOf(files);
    expect(manifest).toMatchObject({ name: '@acme/notes', type: 'module' });
    expect(manifest['perdure']).toEqual({ plugin: '.', api: 1, provides: [port] });
    const all = { ...manifest['dependencies'], ...manifest['devDependencies'] };
    for (const [name, version] of Object.entries(all)) {
      if (name.startsWith('@perdure/')) expect(version, name).toBe('1.2.3');
      else expect(version, name).toMatch(/^\d+\.\d+\.\d+$/);
    }
    expect(Object.keys(manifest['dependencies'] ?? {})).toContain('@perdure/plugin-api');
    expect(files.get('src/plugin.ts')).toContain("name: 'notes'");
  });

  test('are the same for the same', () => {
    expect(newPluginFiles({ ...plugin, port })).toEqual(files);
  });
});

describe('a new plugin', () => {
  test.each([
    '',
    '.',
    '..',
    '../up',
    '/etc/passwd',
    'a/b',
    '@acme',
    '@acme/',
    '@/notes',
    '@acme/../notes',
    '@acme/a/b',
    'Notes',
    'no tes',
    '_notes',
    '.notes',
    'notes\n',
    'notés',
    "no'tes",
    'node_modules',
    'fs',
    'x'.repeat(215),
    7,
    null,
  ])('is not named %j', (name) => {
    expect(problemOf({ name })).toBe('name');
  });

  test.each(['notes', 'my-notes.2', '@acme/notes', '@a/b', '7zip', 'x'.repeat(214)])('can be named %s', (name) => {
    expect(problemOf({ name })).toBeUndefined();
  });

  test.each([
    ['port', { port: 'relay' }],
    ['port', { port: '__proto__' }],
    ['version', { version: '^1.0.0' }],
    ['version', { version: 'latest' }],
    ['description', { description: 'two\nlines' }],
  ])('names the field "%s" that is not valid', (field, options) => {
    expect(problemOf(options)).toBe(field);
  });

  test('takes a description, whatever is in it', () => {
    const description = 'Says "`${x}`" & </b> *all* day.';
    const files = newPluginFiles({ ...plugin, description });
    expect(manifestOf(files)['description']).toBe(description);
    expect(files.get('README.md')).toContain(description);
  });

  test('is built with the tools of this repository', () => {
    const require = createRequire(import.meta.url);
    for (const [name, version] of Object.entries(newPluginTools)) {
      expect((require(`${name}/package.json`) as { version: string }).version, name).toBe(version);
    }
  });

  test('is made for the packages of this version', () => {
    expect(ownVersion()).toMatch(/^\d+\.\d+\.\d+$/);
    expect(ownVersion()).toBe((createRequire(import.meta.url)('../../package.json') as { version: string }).version);
  });
});
