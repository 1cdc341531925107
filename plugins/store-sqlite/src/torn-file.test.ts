import { seededRandom } from '@perdure/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SqliteDriver } from './driver.js';
import { presentDrivers, temporaryFolder } from './temporary-stores.fixture.js';
import { savePlaces, sizeOf, tryChanged, type SavedPlace, type StoreFileName } from './torn-place.fixture.js';

const FLIPS = 120;
const CUTS = 40;

const CASES: readonly (readonly [place: 'log' | 'both' | 'closed', file: StoreFileName])[] = [
  ['log', '-wal'],
  ['log', '-tail'],
  ['both', ''],
  ['both', '-wal'],
  ['closed', ''],
  ['closed', '-tail'],
];

for (const driver of await presentDrivers()) {
  describe(`a damaged file gives the right facts or a typed error (${driver.name})`, () => {
    tornFileTests(driver);
  });
}

function tornFileTests(driver: SqliteDriver): void {
  const { folder, remove } = temporaryFolder();
  let places: { readonly log: SavedPlace; readonly both: SavedPlace; readonly closed: SavedPlace };
  beforeAll(async () => {
    places = await savePlaces(folder, driver);
  });
  afterAll(remove);

  test('the files as they are give all facts', async () => {
    for (const place of [places.log, places.both, places.closed]) {
      expect(await tryChanged(place, driver, '-tail', (bytes) => bytes)).toEqual({ wrong: [], refused: [] });
    }
  });

  test.for(CASES)('%s: perdure.db%s with bits flipped', { timeout: 120_000 }, async ([name, file]) => {
    const random = seededRandom(3);
    const size = sizeOf(places[name], file);
    const refused = new Set<string>();
    for (let round = 0; round < FLIPS; round++) {
      const at = Math.floor(random() * size);
      const bit = 1 << Math.floor(random() * 8);
      const outcome = await tryChanged(places[name], driver, file, (bytes) => {
        bytes[at] = (bytes[at] ?? 0) ^ bit;
        return bytes;
      });
      expect(outcome.wrong, `bit ${bit} of byte ${at}`).toEqual([]);
      for (const code of outcome.refused) refused.add(code);
    }
    // A witness that is torn proves nothing; any other file must have been caught at least once.
    expect(refused.size > 0).toBe(file !== '-tail');
  });

  test.for(CASES)('%s: perdure.db%s cut short', { timeout: 120_000 }, async ([name, file]) => {
    const random = seededRandom(5);
    const size = sizeOf(places[name], file);
    const cuts = [0, 1, 50, ...Array.from({ length: CUTS }, () => Math.floor(random() * size))];
    for (const at of cuts) {
      const { wrong, refused } = await tryChanged(places[name], driver, file, (bytes) => bytes.subarray(0, at));
      expect(wrong, `cut at ${at}`).toEqual([]);
      if (name === 'closed' && file === '') expect(refused, `cut at ${at}`).not.toEqual([]);
    }
  });

  test('a log that is cut is PERDURE_STORE_TRUNCATED', async () => {
    const half = Math.floor(sizeOf(places.log, '-wal') / 2);
    const { refused } = await tryChanged(places.log, driver, '-wal', (bytes) => bytes.subarray(0, half));
    expect(refused).toEqual(['PERDURE_STORE_TRUNCATED']);
  });
}
