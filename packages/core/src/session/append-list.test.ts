import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { AppendList } from './append-list.js';

describe('AppendList', () => {
  test('behaves as an array, and every older version stays as it was', () => {
    const step = fc.oneof(fc.record({ push: fc.integer() }), fc.record({ at: fc.nat(300), put: fc.integer() }));
    fc.assert(
      fc.property(fc.array(fc.integer(), { maxLength: 200 }), fc.array(step, { maxLength: 200 }), (start, steps) => {
        let list = AppendList.from(start);
        let array = [...start];
        const versions: [AppendList<number>, number[]][] = [[list, array]];
        for (const each of steps) {
          if ('push' in each) {
            list = list.push(each.push);
            array = [...array, each.push];
          } else if (each.at < array.length) {
            list = list.with(each.at, each.put);
            array = array.with(each.at, each.put);
          }
          versions.push([list, array]);
        }
        for (const [version, expected] of versions) {
          expect([...version]).toEqual(expected);
          expect(version.length).toBe(expected.length);
          expect(version.at(expected.length - 1)).toBe(expected.at(-1));
          expect(version.slice(3, 90)).toEqual(expected.slice(3, 90));
        }
      }),
      { numRuns: 50 },
    );
  });

  test('gives nothing outside its bounds', () => {
    const list = AppendList.from([1, 2]);
    expect(list.at(2)).toBeUndefined();
    expect(list.at(-1)).toBeUndefined();
  });
});
