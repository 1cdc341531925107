import { isPerdureError, seededRandom } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { fitsPassing, killAt, recordKillPoints, type KillPoint, type KillPointPassing } from './kill-plan.js';

const append = (...labels: readonly string[]): KillPointPassing => ({ point: 'append:before', labels });

describe('a kill point', () => {
  test('means the types of a batch one by one, or all of them', () => {
    expect(fitsPassing({ point: 'append:before' }, append('A', 'B'))).toBe(true);
    expect(fitsPassing({ point: 'append:before', match: 'B' }, append('A', 'B'))).toBe(true);
    expect(fitsPassing({ point: 'append:before', match: 'A+B' }, append('A', 'B'))).toBe(true);
    expect(fitsPassing({ point: 'append:before', match: 'A' }, append('AB'))).toBe(false);
    expect(fitsPassing({ point: 'append:before', match: 'B+A' }, append('A', 'B'))).toBe(false);
    expect(fitsPassing({ point: 'append:after' }, append('A'))).toBe(false);
  });

  test('means the streams of a category', () => {
    const target = { point: 'append:before', category: 'session' } as const;
    expect(fitsPassing(target, { ...append('A'), category: 'session' })).toBe(true);
    expect(fitsPassing(target, { ...append('A'), category: 'draft' })).toBe(false);
  });

  test('as it was recorded is met again at the same place', () => {
    const random = seededRandom(7);
    const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value;
    const passings = Array.from({ length: 300 }, (): KillPointPassing => ({
      point: pick(['append:before', 'append:after', 'tool:before']),
      labels: pick([['A'], ['B'], ['A', 'B'], ['A', 'A'], ['A+B'], []]),
      ...(random() < 0.5 ? { category: pick(['session', 'draft']) } : {}),
    }));
    const recorder = recordKillPoints();
    for (const passing of passings) recorder.pass(passing);
    expect(recorder.passed.map((point) => placeOf(point, passings))).toEqual(passings.map((_, index) => index));
  });

  test.each([
    ['killPoint.point', { point: 'append', occurrence: 1 }],
    ['killPoint.occurrence', { point: 'append:before', occurrence: 0 }],
    ['killPoint', { point: 'append:before', occurrence: 1, type: 'A' }],
  ])('that is wrong at %s is refused by that name', (field, point) => {
    let error: unknown;
    try {
      killAt(point as KillPoint);
    } catch (caught) {
      error = caught;
    }
    expect(isPerdureError(error, 'PERDURE_CONFIGURATION')).toBe(true);
    expect(error).toMatchObject({ data: { field } });
  });
});

/** The index of the passing at which a plan for the point kills. */
function placeOf(point: KillPoint, passings: readonly KillPointPassing[]): number {
  const fitting = passings.flatMap((passing, index) => (fitsPassing(point, passing) ? [index] : []));
  return fitting[point.occurrence - 1] ?? -1;
}
