import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Tests resolve sibling packages from their sources, so no build is needed before a test run.
const conditions = ['@perdure/source', 'node', 'import', 'default'];
// Node is given these: with `import` among them it would hand modules to packages that require others.
const nodeConditions = ['@perdure/source', 'node'];

const exclude = ['**/node_modules/**', '**/dist/**', '**/*.tmpl'];

/** Tests that share a PostgreSQL, which is started when one of them runs. */
const postgres = ['plugins/store-postgres/src/**/*.test.ts'];

/**
 * Tests that need a process of their own: they change or measure what belongs to a whole process (its environment,
 * memory, timers, modules, listeners), or they end, stop and start others. All other files share one process for each
 * worker, in which the packages are loaded once and not again for each file.
 */
const alone = [
  'test/{e2e,faults}/**/*.test.ts',
  'test/session/{hostile-plugins,mcp-failures,shell,slow-plugins}.test.ts',
  'packages/plugin-api/src/{tokens,errors/perdure-error}.test.ts',
  'packages/cli/src/turn/{wait-for-owner,terminal-reporter}.test.ts',
  'plugins/{sandbox-bubblewrap,tools-shell,security-redaction,model-openai-compatible}/src/**/*.test.ts',
  'plugins/store-sqlite/src/**/*.test.ts',
];

const globalSetup = ['test/fixtures/store-server.global-setup.ts', 'test/fixtures/bundles.global-setup.ts'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions: nodeConditions, externalConditions: nodeConditions } },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'alone', include: alone, exclude, globalSetup },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['{packages,plugins,tools}/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...exclude, ...postgres, ...alone],
          globalSetup,
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'postgres',
          include: postgres,
          exclude,
          globalSetup: 'plugins/store-postgres/src/global-setup.fixture.ts',
        },
      },
    ],
    pool: 'forks',
    // Many tests wait for processes and timers: two files share two cores well.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
