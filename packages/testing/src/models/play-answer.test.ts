import { describe, expect, test } from 'vitest';
import { playAnswer } from './play-answer.js';
import type { ScriptedAnswer } from './script.js';

/** Beats as short texts: deltas with what they hold, the others by their kind. */
function beats(answer: ScriptedAnswer): readonly string[] {
  return Array.from(playAnswer(answer), (beat) => {
    if (beat.kind === 'call') return `call ${beat.call}:${beat.delta}`;
    if (beat.kind === 'text' || beat.kind === 'reasoning') return `${beat.kind}:${beat.delta}`;
    return beat.kind === 'wait' ? `wait ${beat.ms}` : beat.kind;
  });
}

describe('the course of an answer', () => {
  test('reasoning, text and the arguments of each call come in pieces, in this order', () => {
    const calls = [{ name: 'add', input: { a: 1 } }, { name: 'list' }];
    expect(beats({ reasoning: 'hm', text: 'Hello', calls })).toEqual([
      'reasoning:h',
      'reasoning:m',
      'text:He',
      'text:llo',
      'call 0:{"a',
      'call 0:":1}',
      'call 1:{',
      'call 1:}',
      'finish',
    ]);
  });

  test('the pieces can be given', () => {
    expect(beats({ deltas: ['a', '', 'bc'] })).toEqual(['text:a', 'text:', 'text:bc', 'finish']);
    expect(beats({ text: 'abcd', deltas: 3 })).toEqual(['text:a', 'text:b', 'text:cd', 'finish']);
    expect(beats({ text: 'ab', deltas: 9 })).toEqual(['text:a', 'text:b', 'finish']);
  });

  test('no character is torn', () => {
    expect(beats({ text: 'a😀b', deltas: 3 })).toEqual(['text:a', 'text:😀', 'text:b', 'finish']);
  });

  test('a call without arguments still shows', () => {
    expect(beats({ calls: [{ name: 'now', inputText: '' }] })).toEqual(['call 0:', 'finish']);
  });

  test('an empty answer only ends', () => {
    expect(beats({})).toEqual(['finish']);
  });

  test.each([
    ['cutAfter', 'cut'],
    ['stallAfter', 'wait Infinity'],
    ['endAfter', 'end'],
  ] as const)('%s counts deltas, and nothing of the answer follows', (member, fault) => {
    expect(beats({ text: 'abcd', [member]: 1 })).toEqual(['text:ab', fault]);
    expect(beats({ text: 'abcd', [member]: 99 })).toEqual(['text:ab', 'text:cd', fault]);
  });

  test('an error in the stream ends it; a malformed piece does not', () => {
    expect(beats({ text: 'abcd', error: {}, errorAfter: 1 })).toEqual(['text:ab', 'error']);
    expect(beats({ text: 'abcd', malformedAfter: 1 })).toEqual(['text:ab', 'malformed', 'text:cd', 'finish']);
  });

  test('waits stand between the deltas and before the end', () => {
    expect(beats({ text: 'ab', deltaDelayMs: 5 })).toEqual(['text:a', 'wait 5', 'text:b', 'wait 5', 'finish']);
  });
});
