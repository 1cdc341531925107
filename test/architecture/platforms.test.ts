import { describe, expect, test } from 'vitest';
import { platformQuestions } from './platforms.js';
import { files, published } from './workspace.js';

/**
 * The adapters to systems: what closes commands in, how processes are started and ended, and how the folders of a
 * workspace are held so that nothing leads out of them.
 */
const ADAPTERS = [
  'plugins/sandbox-bubblewrap/src/preflight/preflight.ts',
  'plugins/sandbox-bubblewrap/src/process/launch.ts',
  'plugins/mcp-client/src/connection/process-group.ts',
  'plugins/mcp-client/src/connection/stdio-transport.ts',
  'plugins/tools-files/src/effect/replace-file.ts',
  'plugins/tools-files/src/root/directory.ts',
  'plugins/tools-files/src/root/path-anchor.ts',
  'plugins/tools-files/src/root/root.ts',
  'plugins/tools-files/src/root/workspace-path.ts',
  'plugins/tools-files/src/search/ripgrep.ts',
];

describe('branches by the operating system', () => {
  test.each([
    `if (process.platform === 'linux') work();`,
    `const { platform } = process;`,
    `const key = process['arch'];`,
    `import { platform as which } from 'node:os';`,
    `import os from 'node:os'; os.type();`,
  ])('are found: %s', (text) => {
    expect(platformQuestions([{ path: 'packages/core/src/planted.ts', text }])).toHaveLength(1);
  });

  test('are not what only looks like one, or is a test', () => {
    const text = `const platform = { type: 'x' }; platform.type; import { hostname } from 'node:os';`;
    expect(platformQuestions([{ path: 'packages/core/src/planted.ts', text }])).toEqual([]);
    const asked = `process.platform;`;
    expect(platformQuestions([{ path: 'packages/core/src/planted.test.ts', text: asked }])).toEqual([]);
  });

  test('are in adapters alone: agents, sessions and stores are the same everywhere [R32]', () => {
    const sources = files(/^(?:packages|plugins)\/[^/]+\/src\/.*\.ts$/);
    expect(sources.length).toBeGreaterThan(300);
    const paths = new Set(platformQuestions(sources).map(({ path }) => path));
    expect([...paths].sort()).toEqual(ADAPTERS.toSorted());
  });
});

test('no package is for one system alone, or brings a program of another [R33]', () => {
  const manifests = files(/^(?:packages|plugins)\/[^/]+\/package\.json$/).map(
    ({ path, text }) => [path, JSON.parse(text) as Readonly<Record<string, unknown>>] as const,
  );
  expect(manifests).toHaveLength(published.length);
  for (const [path, manifest] of manifests) {
    const limits = ['os', 'cpu', 'libc', 'optionalDependencies'].filter((member) => member in manifest);
    expect([path, limits]).toEqual([path, []]);
  }
  // What closes commands in on one system is a plugin: core knows only what all of them offer.
  for (const name of ['@perdure/core', '@perdure/plugin-api', '@perdure/events', '@perdure/tools-shell']) {
    const { dependencies = {} } = published.find(({ manifest }) => manifest.name === name)?.manifest ?? {};
    expect(Object.keys(dependencies).filter((each) => each.includes('sandbox'))).toEqual([]);
  }
});
