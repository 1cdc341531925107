import { describe, expect, test } from 'vitest';
import { reachOf } from './reach.js';
import { files } from './workspace.js';

const core = files(/^packages\/core\/src\/.*\.ts$/);
/** What only computes, or is of the language: neither files, nor processes, nor a network. */
const HARMLESS = ['node:crypto', 'node:events', 'zod', '@perdure/events', '@perdure/plugin-api'];
/** The files of the host that know neither agents nor places. */
const OF_HOST = ['host/sha256.ts', 'host/same-plugins.ts'];

const at = (name: string): string => `packages/core/src/${name}`;

describe('what runs with a file', () => {
  test('is found however it is imported, and types are not part of it', () => {
    const sources = [
      {
        path: 'a/one.ts',
        text: `import { two } from './two.js';\nimport type { Four } from './four.js';\nimport 'x';`,
      },
      { path: 'a/two.ts', text: `export { three } from '../b/three.js';\nexport type { Four } from './four.js';` },
      {
        path: 'b/three.ts',
        text: `import { type A } from './types.js';\nawait import('node:fs');\nimport './one.js';`,
      },
      { path: 'b/one.ts', text: `import { three } from './three.js';` },
    ];
    expect(reachOf('a/one.ts', sources)).toEqual({
      files: ['a/one.ts', 'a/two.ts', 'b/three.ts', 'b/one.ts'],
      modules: ['node:fs', 'x'],
    });
  });

  test.each(['compose/composer.ts', 'turn/executor.ts'])(
    'with %s is nothing that knows where sessions are kept, which agents there are, or how they are reached [R13]',
    (name) => {
      const { files: reached, modules } = reachOf(at(name), core);
      expect(modules.filter((module) => !HARMLESS.includes(module))).toEqual([]);
      const ofHost = reached.filter((path) => path.startsWith(at('host/')));
      expect(ofHost.filter((path) => !OF_HOST.map(at).includes(path))).toEqual([]);
    },
  );

  test('with the composer is nothing that could write a fact or ask a model [R13]', () => {
    const { files: reached } = reachOf(at('compose/composer.ts'), core);
    expect(reached).toContain(at('compose/system-prompt.ts'));
    const acting = ['session/journal.ts', 'session/fact-batch.ts', 'invoke/model-invoker.ts', 'invoke/tool-invoker.ts'];
    expect(reached.filter((path) => acting.map(at).includes(path) || path.startsWith(at('turn/')))).toEqual([]);
  });
});
