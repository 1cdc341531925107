import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PartialJson } from './partial-json.js';

const whole = (text: string, size = text.length): unknown => {
  const json = new PartialJson();
  for (let at = 0; at < text.length; at += size) json.feed(text.slice(at, at + size));
  return json.value();
};

test('any JSON that is cut anywhere comes out as it went in', () => {
  const container = fc.oneof(
    fc.array(fc.jsonValue({ maxDepth: 2 })),
    fc.dictionary(fc.string({ unit: 'binary', maxLength: 6 }), fc.jsonValue({ maxDepth: 2 })),
  );
  fc.assert(
    fc.property(container, fc.integer({ min: 1, max: 5 }), fc.boolean(), (value, size, isWide) => {
      const text = JSON.stringify(value, null, isWide ? 2 : undefined);
      expect(whole(text, size)).toEqual(JSON.parse(text));
    }),
    { numRuns: 60 },
  );
});

describe('what there is of a beginning', () => {
  test.each([
    ['', undefined],
    ['Here it is:\n```json\n{', {}],
    ['{"na', {}],
    ['{"name":"An', { name: 'An' }],
    ['{"name":"A\\', { name: 'A' }],
    ['{"name":"A\\u00', { name: 'A' }],
    ['{"name":"\\\\', { name: '\\' }],
    ['{"name":"Ann","tags":["a","b', { name: 'Ann', tags: ['a', 'b'] }],
    ['{"n":12', {}],
    ['{"n":12,', { n: 12 }],
    ['[1,{"a":[tru', [1, { a: [] }]],
    ['{"a":1} and more', { a: 1 }],
    ['{"a":1,b}', { a: 1 }],
  ])('%j', (text, value) => {
    expect(whole(text)).toEqual(value);
    expect(whole(text, 1)).toEqual(value);
  });
});
