import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findPlaces } from './find-places.js';

const letters = fc.array(fc.constantFrom('a', 'b', '🙂'), { maxLength: 60 }).map((pieces) => pieces.join(''));
const words = fc.array(fc.constantFrom('a', 'b'), { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));

test('finds what indexOf finds', () => {
  fc.assert(
    fc.property(letters, words, fc.nat(5), (text, wanted, most) => {
      const places: number[] = [];
      for (let at = text.indexOf(wanted); at !== -1 && places.length < most; at = text.indexOf(wanted, at + 1)) {
        places.push(at);
      }
      expect(findPlaces(text, wanted, most)).toEqual(places);
    }),
  );
});
