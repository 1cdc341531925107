import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Tests resolve sibling packages from their sources, so no build is needed before a test run.
const conditions = ['@perdure/source', 'node', 'import', 'default'];
// Node is given these: with `import` among them it would hand modules to packages that require others.
const nodeConditions = ['@perdure/source', 'node'];

const exclude = ['**/node_modules/**', '**/dist/**', '**/*.tmpl'];

/** Tests that share a PostgreSQL, which is started when one of them runs. */
const postgres = ['plugins/store-postgres/src/**/*.test.ts'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions: nodeConditions, externalConditions: nodeConditions } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'all',
          include: ['{packages,plugins,tools}/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...exclude, ...postgres],
          globalSetup: 'test/fixtures/store-server.global-setup.ts',
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
