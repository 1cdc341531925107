import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { paths, published, root } from './workspace.js';

/** What the linter must find: by the path of a file, its text and the rules that it breaks. */
const planted: Readonly<Record<string, { readonly text: string; readonly rules: readonly string[] }>> = {
  'plugins/store-memory/src/planted-core.ts': {
    text: `import { createRuntime } from '@perdure/core';\n\nexport const make = createRuntime;\n`,
    rules: ['nx-boundaries(enforce-module-boundaries)'],
  },
  'plugins/store-memory/src/planted-neighbour.ts': {
    text: `import { openSqliteStores } from '@perdure/store-sqlite';\n\nexport const open = openSqliteStores;\n`,
    rules: ['nx-boundaries(enforce-module-boundaries)'],
  },
  'packages/testing/src/planted-core.ts': {
    text: `import { createTestRuntime } from '@perdure/core/testing';\n\nexport const make = createTestRuntime;\n`,
    rules: ['nx-boundaries(enforce-module-boundaries)'],
  },
  'packages/events/src/planted-node.ts': {
    text: `import { readFileSync } from 'node:fs';\n\nexport const read = readFileSync;\n`,
    rules: ['eslint(no-restricted-imports)'],
  },
  'packages/core/src/planted-world.ts': {
    text: 'export const world = () => [process.env, Date.now(), new Date(), Math.random()];\n',
    rules: ['node(no-process-env)', 'eslint(no-restricted-globals)', 'eslint(no-restricted-properties)'],
  },
  'packages/core/src/planted-promise.ts': {
    text: `import { readFile } from 'node:fs/promises';\n\nexport function read(): void {\n  readFile('a');\n}\n`,
    rules: ['typescript(no-floating-promises)'],
  },
  'packages/core/src/planted-switch.ts': {
    text: `export function act(kind: 'a' | 'b'): void {\n  switch (kind) {\n    case 'a':\n      act('b');\n  }\n}\n`,
    rules: ['typescript(switch-exhaustiveness-check)'],
  },
  'packages/core/src/plantedName.ts': {
    text: `export default function act(value: any): string {\n  console.log(value!);\n  return String(value);\n}\n`,
    rules: [
      'unicorn(filename-case)',
      'import(no-default-export)',
      'typescript(no-explicit-any)',
      'typescript(no-non-null-assertion)',
      'eslint(no-console)',
    ],
  },
};

let workspace: string;
let output: string;
let status: number | null;

/** A copy of the repository without its history, so that nothing planted is ever in the real one. */
beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), 'perdure-lint-'));
  for (const path of paths) {
    if (!/^(?:packages|plugins)\/|^[^/]+$/.test(path) || path.endsWith('.test.ts')) continue;
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    cpSync(join(root, path), join(workspace, path));
  }
  linkModules(join(workspace, 'node_modules'));
  for (const [path, { text }] of Object.entries(planted)) writeFileSync(join(workspace, path), text);
  execFileSync('git', ['init', '--quiet'], { cwd: workspace });
  const projects = '@perdure/events,@perdure/core,@perdure/testing,@perdure/store-memory';
  const run = ['nx', 'run-many', '-t', 'lint', '-p', projects, '--skip-nx-cache', '--output-style=static'];
  const lint = spawnSync('npx', run, {
    cwd: workspace,
    encoding: 'utf8',
    env: { ...process.env, NX_DAEMON: 'false', NX_WORKSPACE_ROOT_PATH: workspace },
  });
  status = lint.status;
  output = stripVTControlCharacters(lint.stdout + lint.stderr);
}, 180_000);
afterAll(() => rmSync(workspace, { recursive: true, force: true }));

/** The installed packages, but those of the repository are the copied ones. */
function linkModules(folder: string): void {
  mkdirSync(join(folder, '@perdure'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules'))) {
    if (name !== '@perdure') symlinkSync(join(root, 'node_modules', name), join(folder, name));
  }
  for (const { folder: own, manifest } of published) symlinkSync(join(workspace, own), join(folder, manifest.name));
}

describe('the linter, run through nx on planted violations', () => {
  test('fails, and knows the graph of the projects', () => {
    expect(status, output).toBe(1);
    expect(output).not.toMatch(/No cached ProjectGraph|will be skipped/);
  });

  test.each(Object.entries(planted))('finds what is wrong with %s', (path, { rules }) => {
    const found = output.split(/\n\s*\n/).filter((block) => block.includes(`${path}:`));
    for (const rule of rules) {
      expect(
        found.filter((block) => block.includes(rule)),
        `${rule}\n${output}`,
      ).not.toEqual([]);
    }
  });
});
