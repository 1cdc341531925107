import { describe, expect, test } from 'vitest';
import { problemsOf, type Evidence, type ShownFact } from './evidence.js';

function factsOf(
  calls: number,
  change: (fact: ShownFact) => readonly ShownFact[] = (fact) => [fact],
): readonly ShownFact[] {
  const facts = [
    { type: 'RunStarted', payload: {} },
    ...Array.from({ length: calls }, (_, index) => {
      const callId = `c${index}`;
      return [
        { type: 'ToolCallDecided', payload: { callId } },
        { type: 'ToolCallStarted', payload: { callId } },
        { type: 'ToolCallSettled', payload: { callId, status: 'completed' } },
      ];
    }).flat(),
    { type: 'RunStarted', payload: {} },
    { type: 'RunEnded', payload: { status: 'completed' } },
    { type: 'OwnershipReleased', payload: {} },
  ];
  return facts.map((fact, revision) => ({ revision, ...fact })).flatMap(change);
}

const sound: Evidence = {
  testsBefore: 1,
  testsAfter: 0,
  killedBy: 'SIGKILL',
  resumed: 0,
  verified: 0,
  replayed: 0,
  edited: 'for (let index = 0;',
  written: '- changed',
  announcements: ['k total() is repaired.'],
  facts: factsOf(7),
  requests: 6,
  rounds: 6,
};

describe('the evidence', () => {
  test('is free of problems when all went well', () => {
    expect(problemsOf(sound)).toEqual([]);
  });

  test.each<[string, Partial<Evidence>, RegExp]>([
    ['a test that never failed', { testsBefore: 0 }, /did not fail/],
    ['a process that was not killed', { killedBy: null }, /not killed/],
    ['a resume that failed', { resumed: 3 }, /ended with 3/],
    ['a file that was not edited', { edited: 'let index = 1' }, /not edited/],
    ['a test that fails still', { testsAfter: 1 }, /fails still/],
    ['a file that is missing', { written: undefined }, /CHANGES.md/],
    ['an announcement that was made twice', { announcements: ['a', 'b'] }, /told 2 times/],
    ['a step that was asked twice', { requests: 7 }, /asked 7 times/],
    ['a verification that failed', { verified: 4 }, /verification/],
    ['a replay that differs', { replayed: 4 }, /replay/],
    ['a call that is missing', { facts: factsOf(6) }, /6 calls/],
    [
      'a call that was run twice',
      { facts: factsOf(7, (fact) => (fact.revision === 2 ? [fact, fact] : [fact])) },
      /c0 was run 2 times/,
    ],
    [
      'a call whose outcome is not known',
      {
        facts: factsOf(7, (fact) =>
          fact.revision === 3 ? [{ ...fact, payload: { callId: 'c0', status: 'unknown' } }] : [fact],
        ),
      },
      /settled as "unknown"/,
    ],
    ['a turn that did not complete', { facts: factsOf(7).slice(0, -1) }, /did not complete/],
  ])('shows %s', (_, change, problem) => {
    const problems = problemsOf({ ...sound, ...change });
    expect(problems.some((text) => problem.test(text))).toBe(true);
  });
});
