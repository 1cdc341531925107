import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

// Tests resolve sibling packages from their sources, so no build is needed before a test run.
const conditions = ['@perdure/source', 'node', 'import', 'default'];

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ['{packages,plugins,tools}/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**', '**/*.tmpl'],
    pool: 'forks',
    // Many tests wait for processes and timers: two files share two cores well.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
