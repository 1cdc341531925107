import { describe, expect, test } from 'vitest';
import { milestones, reached, requirements, type Requirement } from '../requirements/index.js';
import { citationProblems, citationsOf } from './citations.js';
import { files } from './workspace.js';

const due: Requirement = { id: 'P1', promise: 'It holds.', due: 'kernel', tests: ['a.test.ts'] };
const later: Requirement = { id: 'P4/nodes', promise: 'It holds.', due: 'nodes', tests: [], deferred: 'more nodes' };
const citing = { path: 'a.test.ts', text: `test('[P1] holds', () => {});` };
const problems = (...args: Parameters<typeof citationProblems>): readonly string[] => citationProblems(...args);

describe('the gate of promises', () => {
  test('reads citations in titles, and nowhere else', () => {
    const text = [
      `// [P9]`,
      `describe('[P1] [A16] a', () => { test.each([1])('[P2] [P4/nodes] %s', () => { expect('[P3]').toBe(''); }); });`,
      'test("[R12] c [S1] [X2]", () => {});',
      'it.skipIf(isRoot)(`[P7] ${name}`, () => {});',
    ].join('\n');
    expect(citationsOf({ path: 'a.test.ts', text })).toEqual(['P1', 'A16', 'P2', 'P4/nodes', 'R12', 'P7']);
  });

  test.each<[string, readonly Requirement[], string]>([
    ['a due promise without tests', [{ ...due, tests: [] }], 'P1: lists no tests'],
    ['a listed file that is not there', [{ ...due, tests: ['b.test.ts'] }], 'P1: b.test.ts is no test file'],
    ['a listed file that does not cite', [due, { ...due, id: 'P2' }], 'P2: no test title of a.test.ts has [P2]'],
    ['a due promise whose tests only cite it', [{ ...due, tests: [] }], 'these tests cite it: a.test.ts'],
    ['a due promise that is put off', [{ ...due, deferred: 'time' }], 'P1: is due and cannot be deferred'],
    ['a later promise without a reason', [due, { ...later, deferred: '' }], 'P4/nodes: is due at nodes'],
    ['an early promise whose tests do not cite it', [due, { ...due, id: 'A6', due: 'nodes' }], 'A6: no test title of'],
    ['a citation of an unknown promise', [{ ...due, id: 'P2' }], 'P1: cited by a.test.ts'],
  ])('finds %s', (_, list, problem) => {
    expect(problems(list, milestones, 'kernel', [citing])).toContainEqual(expect.stringContaining(problem));
  });

  test('is content with a cited due promise and a later one that says what is missing', () => {
    expect(problems([due, later], milestones, 'kernel', [citing])).toEqual([]);
    expect(problems([due, later], milestones, 'nodes', [citing])).not.toEqual([]);
  });

  test('lists every promise once', () => {
    const ids = requirements.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test.each([
    ['the design', 'P', 20],
    ['the extension points', 'A', 22],
    ['the runtime of agents and sessions', 'R', 38],
  ])('leaves out no promise of %s', (_, letter, count) => {
    const ids = requirements.flatMap(({ id }) => (id.startsWith(letter) ? [Number(id.slice(1).split('/')[0])] : []));
    expect([...new Set(ids)]).toEqual(Array.from({ length: count }, (__, index) => index + 1));
  });

  test('every promise that is due is cited by its tests', () => {
    expect(problems(requirements, milestones, reached, files(/\.test\.ts$/))).toEqual([]);
  });
});
