import { describe, expect, test } from 'vitest';
import {
  codeProblems,
  fileShapeRules,
  lengthProblems,
  nameProblems,
  workplaceProblems,
  type FileShapeRule,
  type ShapeProblem,
} from './file-shape.js';
import { files, paths } from './workspace.js';

const lines = (count: number): string => 'const a = 1;\n'.repeat(count);
const code = (text: string, path = 'packages/core/src/planted.ts'): readonly ShapeProblem[] =>
  codeProblems({ path, text });

const planted: Record<string, { readonly rule: FileShapeRule; readonly found: readonly ShapeProblem[] }> = {
  'a file of 301 lines': { rule: 'length', found: code(lines(301)) },
  'a port of the event store of 121 lines': {
    rule: 'length',
    found: code(lines(121), 'packages/plugin-api/src/ports/event-store.ts'),
  },
  'a line of 121 columns': { rule: 'width', found: code(`// ${'x'.repeat(118)}`) },
  'a shell script with a long line': {
    rule: 'width',
    found: lengthProblems({ path: '.ci/run', text: `# ${'x'.repeat(119)}` }),
  },
  'a folder of helpers': { rule: 'name', found: nameProblems('packages/core/src/helpers/retry.ts') },
  'a file of types': { rule: 'name', found: nameProblems('plugins/store-sqlite/src/types.ts') },
  'a file in camel case': { rule: 'name', found: nameProblems('packages/core/src/turnHandle.ts') },
  'an export of everything': { rule: 'export-all', found: code(`export * from './a.js';`) },
  'a default export of a function': { rule: 'default-export', found: code(`export default function a() {}`) },
  'a default export by another name': { rule: 'default-export', found: code(`const a = 1; export { a as default };`) },
  'a skipped test': { rule: 'switched-off-test', found: code(`test.skip('a', () => {});`) },
  'a lonely test': { rule: 'switched-off-test', found: code(`describe.concurrent.only('a', () => {});`) },
  'a test that is still to be written': { rule: 'switched-off-test', found: code(`it.todo('a');`) },
  'a path of a machine': {
    rule: 'this-workplace',
    found: workplaceProblems({ path: 'README.md', text: `See ${['', 'work', 'main'].join('/')}.` }),
  },
};

describe('the form of files', () => {
  test.each(Object.entries(planted))('the scan catches %s', (_, { rule, found }) => {
    expect(found.map((problem) => problem.rule)).toEqual([rule]);
  });

  test('every rule has a planted violation', () => {
    const covered = new Set<string>(Object.values(planted).map(({ rule }) => rule));
    expect(Object.keys(fileShapeRules).filter((rule) => !covered.has(rule))).toEqual([]);
  });

  test('what is allowed is no violation', () => {
    expect(code(lines(300))).toEqual([]);
    expect(code(`export { a as default } from './plugin.js';`, 'plugins/store-memory/src/index.ts')).toEqual([]);
    expect(code(`test.skipIf(isDurable)('a', () => {}); export * as shapes from './a.js';`)).toEqual([]);
    expect(nameProblems('packages/events/fixtures/hash-chain.v1.json')).toEqual([]);
  });

  test('sources and tests keep to it', () => {
    const sources = files(/\.(?:ts|mts|mjs|js)$/);
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.flatMap(codeProblems)).toEqual([]);
    expect(files(/\.sh$|^\.ci\/run$/).flatMap(lengthProblems)).toEqual([]);
  });

  test('names keep to it', () => {
    const named = paths.filter((path) => /\.(?:ts|mts|mjs|js|sh)$/.test(path));
    expect(named.flatMap(nameProblems)).toEqual([]);
  });

  test('no committed file tells where it was written', () => {
    const texts = files(/\.(?:ts|mts|mjs|js|json|md|txt|sh|yaml|yml|tmpl)$|^\.(?:ci\/run|npmrc|gitignore)$|LICENSE$/);
    expect(texts.map(({ path }) => path)).toContain('package-lock.json');
    expect(texts.flatMap(workplaceProblems)).toEqual([]);
  });
});
