import { describe, expect, test } from 'vitest';
import { layeringRules, layeringViolations, type LayeringRule } from './layering.js';
import { files, type WorkspaceFile } from './workspace.js';

const planted: Record<string, { readonly rule: LayeringRule; readonly files: readonly WorkspaceFile[] }> = {
  'a plugin that imports core': {
    rule: 'layer',
    files: [{ path: 'plugins/store-memory/src/planted.ts', text: `import { createRuntime } from '@perdure/core';` }],
  },
  "a plugin's test that imports core itself": {
    rule: 'layer',
    files: [{ path: 'plugins/store-memory/src/planted.test.ts', text: `import '@perdure/core';` }],
  },
  'a plugin that imports the testing package outside tests': {
    rule: 'layer',
    files: [{ path: 'plugins/store-sqlite/src/planted.ts', text: `export { ScriptedModel } from '@perdure/testing';` }],
  },
  'a plugin that imports another plugin, lazily': {
    rule: 'layer',
    files: [{ path: 'plugins/tools-files/src/planted.ts', text: `await import('@perdure/store-memory');` }],
  },
  'core that imports a plugin': {
    rule: 'layer',
    files: [{ path: 'packages/core/src/planted.ts', text: `import type { A } from '@perdure/store-sqlite';` }],
  },
  'testing that imports core': {
    rule: 'layer',
    files: [
      { path: 'packages/testing/src/planted.ts', text: `import { createTestRuntime } from '@perdure/core/testing';` },
    ],
  },
  'events that imports plugin-api, even in a test': {
    rule: 'layer',
    files: [{ path: 'packages/events/src/planted.test.ts', text: `import { PLUGIN_API } from '@perdure/plugin-api';` }],
  },
  'plugin-api that imports core': {
    rule: 'layer',
    files: [{ path: 'packages/plugin-api/src/planted.ts', text: `import '@perdure/core';` }],
  },
  'tsyringe beside the container': {
    rule: 'tsyringe',
    files: [{ path: 'packages/core/src/host/planted.ts', text: `import { container } from 'tsyringe';` }],
  },
  'reflect-metadata in a plugin': {
    rule: 'tsyringe',
    files: [{ path: 'plugins/store-memory/src/planted.ts', text: `import 'reflect-metadata';` }],
  },
  'a vendor library in core': {
    rule: 'vendor',
    files: [{ path: 'packages/core/src/planted.ts', text: `import sqlite from '@photostructure/sqlite';` }],
  },
  'a vendor library in two plugins': {
    rule: 'vendor',
    files: [
      { path: 'plugins/store-memory/src/planted.ts', text: `import { DatabaseSync } from '@photostructure/sqlite';` },
      { path: 'plugins/store-sqlite/src/planted.ts', text: `import { DatabaseSync } from '@photostructure/sqlite';` },
    ],
  },
  'a Node built-in in events': {
    rule: 'node-built-in',
    files: [{ path: 'packages/events/src/planted.ts', text: `import { createHash } from 'node:crypto';` }],
  },
  'a Node built-in in plugin-api': {
    rule: 'node-built-in',
    files: [{ path: 'packages/plugin-api/src/ports/planted.ts', text: `const fs = await import('node:fs');` }],
  },
  'a relative path into another package': {
    rule: 'relative-import-leaves-project',
    files: [
      { path: 'plugins/store-memory/src/planted.ts', text: `export { a } from '../../store-sqlite/src/driver.js';` },
    ],
  },
  'a path behind the exports of a package': {
    rule: 'deep-import',
    files: [{ path: 'plugins/store-memory/src/planted.ts', text: `import '@perdure/events/src/metadata.js';` }],
  },
  'a library that package.json does not name': {
    rule: 'undeclared',
    files: [{ path: 'plugins/store-memory/src/planted.ts', text: `import picomatch from 'picomatch';` }],
  },
};

describe('layering', () => {
  test.each(Object.entries(planted))('the scan catches %s', (_, { rule, files: sources }) => {
    const caught = layeringViolations(sources).filter((violation) => violation.rule === rule);
    expect(caught.map(({ path }) => path)).toEqual(sources.map(({ path }) => path));
  });

  test('every rule has a planted violation', () => {
    const covered = new Set<string>(Object.values(planted).map(({ rule }) => rule));
    expect(Object.keys(layeringRules).filter((rule) => !covered.has(rule))).toEqual([]);
  });

  test('an allowed import is no violation', () => {
    const allowed: readonly WorkspaceFile[] = [
      { path: 'packages/core/src/host/container.ts', text: `import 'reflect-metadata'; import 'tsyringe';` },
      { path: 'plugins/store-memory/src/allowed.test.ts', text: `import '@perdure/testing'; import 'vitest';` },
      { path: 'plugins/store-sqlite/src/allowed.ts', text: `import { z } from 'zod'; import 'node:fs';` },
      { path: 'packages/core/src/turn/allowed.ts', text: `import { addUsage } from '@perdure/events';` },
    ];
    expect(layeringViolations(allowed)).toEqual([]);
  });

  test('the repository has no violation', () => {
    const sources = files(/^(?:packages|plugins|tools|test)\/.*\.(?:ts|mts|mjs|js)$/);
    expect(sources.length).toBeGreaterThan(100);
    expect(layeringViolations(sources)).toEqual([]);
  });
});
