import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

// Tests resolve sibling packages from their sources, so no build is needed before a test run.
const conditions = ['@perdure/source', 'node', 'import', 'default'];
// Node is given these: with `import` among them it would hand modules to packages that require others.
const nodeConditions = ['@perdure/source', 'node'];

const exclude = ['**/node_modules/**', '**/dist/**', '**/*.tmpl'];

/** Tests that share a PostgreSQL, which is started when one of them runs. */
const postgres = ['plugins/store-postgres/src/**/*.test.ts'];

/** Tests that share a Kafka, which is started when one of them runs. */
const kafka = ['test/relay/**/*.int.test.ts'];

/**
 * Tests that need a process of their own: they change or measure what belongs to a whole process (its environment,
 * memory, timers, modules, listeners), or they end, stop and start others. All other files share one process for each
 * worker, in which the packages are loaded once and not again for each file.
 */
const alone = [
  'test/{e2e,faults}/**/*.test.ts',
  'test/session/{hostile-plugins,lapsed-lease,mcp-failures,shell,slow-plugins,wall-clock}.test.ts',
  'packages/plugin-api/src/{tokens,errors/perdure-error}.test.ts',
  'packages/cli/src/turn/{wait-for-owner,terminal-reporter}.test.ts',
  'plugins/{sandbox-bubblewrap,tools-shell,security-redaction,model-openai-compatible}/src/**/*.test.ts',
  'plugins/store-sqlite/src/**/*.test.ts',
];

const globalSetup = ['test/fixtures/store-server.global-setup.ts', 'test/fixtures/bundles.global-setup.ts'];

/** Tests that run on every store; those of `faults` are of several processes, which share no memory. */
const ofStores = (store: string): string[] =>
  store === 'memory' ? ['test/session/**/*.test.ts'] : ['test/{session,faults}/**/*.test.ts'];

/** Tests of what a process does by itself: they set its timers, or count what it asks its memory for. */
const ofOneProcess = ['test/session/{long-session,opening,wall-clock}.test.ts'];

/** Those of them that run on the stores with a server each time; some of what a test tries in them, not all. */
const sample = [
  'test/session/{approvals,budget-bounds,delegation-interactions,events,fold}.test.ts',
  'test/faults/{kill,two-processes}.test.ts',
];
const ofSample = {
  PERDURE_FOLDS: '10',
  PERDURE_KILLS: '2',
  PERDURE_SCENARIOS: 'every effect contract,parts of a call,approvals,work that is handed on',
};

/** Tests that want stores of their own in memory get them in the store of the run. */
const inPlaceOfMemory = {
  find: /^@perdure\/store-memory$/,
  replacement: fileURLToPath(new URL('test/fixtures/stores-of-the-run.ts', import.meta.url)),
};

/** Tests with the stores that the name means in `test/fixtures/test-stores.ts`, in processes of theirs as well. */
const on = (store: string, include: string[], env: Record<string, string> = {}): TestProjectInlineConfiguration => ({
  extends: true,
  resolve: { alias: store === 'memory' ? [] : [inPlaceOfMemory] },
  test: {
    name: `on ${store}`,
    include,
    exclude: [...exclude, ...(store === 'memory' ? [] : ofOneProcess)],
    env: { PERDURE_TEST_STORE: store, ...env },
    globalSetup,
    setupFiles: 'test/fixtures/store-server.setup.ts',
    // A server has the same processors.
    testTimeout: 120_000,
  },
});

/** The store that all of them are to run on, when it is to be another one than they have by themselves. */
const chosen = process.env['PERDURE_TEST_STORE'];
const elsewhere = chosen === undefined ? [] : ofStores(chosen);

export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions: nodeConditions, externalConditions: nodeConditions } },
  test: {
    projects: [
      {
        extends: true,
        test: { name: 'alone', include: alone, exclude: [...exclude, ...elsewhere], globalSetup },
      },
      {
        extends: true,
        test: {
          name: 'together',
          include: ['{packages,plugins,tools}/*/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [...exclude, ...postgres, ...kafka, ...alone, ...elsewhere],
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
      {
        extends: true,
        test: {
          name: 'kafka',
          include: kafka,
          exclude,
          globalSetup: ['test/relay/kafka.global-setup.ts', 'test/fixtures/bundles.global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
      ...(chosen === undefined
        ? ['postgres', 'eventstoredb'].map((store) => on(store, sample, ofSample))
        : [on(chosen, ofStores(chosen))]),
    ],
    pool: 'forks',
    // Many tests wait for processes and timers: two files share two cores well.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
