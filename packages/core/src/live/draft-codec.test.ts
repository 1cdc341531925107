import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { AnswerDelta } from '../invoke/answer-builder.js';
import { packDeltas, partsOfRuns, unpackRun } from './draft-codec.js';

test('a draft gives back every delta as it was, however it was cut into batches', () => {
  const delta = fc.record({
    part: fc.nat(2),
    kind: fc.constantFrom('text' as const, 'reasoning' as const),
    text: fc.string({ unit: 'binary', minLength: 1, maxLength: 60 }),
  });
  fc.assert(
    fc.property(fc.array(delta, { maxLength: 80 }), fc.array(fc.nat(20)), (deltas: AnswerDelta[], sizes) => {
      const offsets: number[] = [];
      const runs = [];
      let at = 0;
      for (const size of [...sizes, deltas.length]) {
        runs.push(...packDeltas(deltas.slice(at, at + size), offsets));
        at += size;
      }
      runs.push(...packDeltas(deltas.slice(at), offsets));
      expect(JSON.parse(JSON.stringify(runs)).flatMap(unpackRun)).toEqual(deltas);
    }),
  );
});

test('the parts of a draft are what its deltas say, without a call that only began', () => {
  const offsets: number[] = [];
  const runs = [
    ...packDeltas([{ part: 0, kind: 'reasoning', text: 'hm' }], offsets),
    ...packDeltas([{ part: 1, kind: 'text', text: 'one ' }], offsets),
    ...packDeltas(
      [
        { part: 1, kind: 'text', text: 'two' },
        { part: 2, kind: 'tool-start', callId: 'c', name: 'look' },
        { part: 2, kind: 'tool-input', callId: 'c', text: '{"a":1}' },
        { part: 3, kind: 'tool-start', callId: 'd', name: 'look' },
      ],
      offsets,
    ),
  ];
  expect(partsOfRuns(runs)).toEqual([
    { type: 'reasoning', text: 'hm' },
    { type: 'text', text: 'one two' },
    { type: 'tool-call', callId: 'c', name: 'look', input: { a: 1 } },
  ]);
});

test('a hundred thousand short deltas cost hardly more than their text', () => {
  const deltas = Array.from({ length: 100_000 }, (): AnswerDelta => ({ part: 0, kind: 'text', text: 'abcd' }));
  expect(JSON.stringify(packDeltas(deltas, [])).length).toBeLessThan(400_000 * 1.01);
  const mixed = deltas.map((delta, index): AnswerDelta => ({
    ...delta,
    kind: 'text',
    text: 'abcdefghi'.slice(0, 1 + ((index * 7) % 9)),
  }));
  const text = mixed.reduce((sum, each) => sum + ('text' in each ? each.text.length : 0), 0);
  expect(JSON.stringify(packDeltas(mixed, [])).length).toBeLessThan(text * 1.3);
});
