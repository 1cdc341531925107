import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JsonText } from './json-text.js';
import { partsText } from './parts-text.js';

// JSON has no negative zero: what is compared is what comes out of a text.
const values = fc
  .jsonValue({ maxDepth: 4, stringUnit: 'binary' })
  .map((value) => JSON.parse(JSON.stringify(value)) as typeof value);
const spaced = fc.constantFrom(undefined, 2, '\t');

describe('a JSON text', () => {
  test('gives each member and item as parsing the whole would', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: 'binary' }), values),
        fc.array(values),
        spaced,
        (record, list, space) => {
          const json = new JsonText(JSON.stringify(record, null, space));
          for (const [name, value] of Object.entries(record)) expect(json.member(name)?.value()).toEqual(value);
          if (!Object.hasOwn(record, 'absent')) expect(json.member('absent')).toBeUndefined();
          const items = [...new JsonText(JSON.stringify(list, null, space)).items()];
          expect(items.map((item) => item.value())).toEqual(list);
        },
      ),
    );
  });

  test('gives the beginning of a string, whatever is in it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(20), (text, length) => {
        expect(new JsonText(JSON.stringify(text)).beginning(length)).toBe(text.slice(0, length));
      }),
    );
    expect(new JsonText('12').beginning(3)).toBeUndefined();
    expect(new JsonText('12').member('a')).toBeUndefined();
    expect([...new JsonText('{}').items()]).toEqual([]);
  });

  test('of a prompt gives what its text parts begin with', () => {
    const parts = [
      { type: 'file', mediaType: 'text/plain', data: 'x'.repeat(100_000) },
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two'.repeat(10) },
    ];
    const json = new JsonText(JSON.stringify({ parts })).member('parts');
    expect(partsText(json, '\n', 7)).toBe('one\ntwot');
    expect(partsText(json, '', 3)).toBe('one');
  });
});
