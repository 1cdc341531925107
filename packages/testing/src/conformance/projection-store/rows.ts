import { expect } from 'vitest';
import { expectInvalid } from '../expect-error.js';
import { change, PROJECTION, rowsOf, type ProjectionStoreSuite } from './projection-store-suite.js';

/** Keys whose order by code unit, by code point, by bytes of UTF-8 and by language differ. */
const KEYS = [
  '',
  ' ',
  '!',
  '0',
  '10',
  '2',
  'A',
  'B',
  'a',
  'a0',
  'aa',
  'b',
  'z',
  'ä',
  'é',
  '漢',
  '\u{1f600}',
  '\ue000',
  '\uffff',
];

/** Rows: their order, what narrows them, and their text. */
export function verifyRows({ verify }: ProjectionStoreSuite): void {
  verify('projection-store:rows:order', async ({ store }) => {
    const shuffled = [...KEYS.filter((_, index) => index % 2 === 1), ...KEYS.filter((_, index) => index % 2 === 0)];
    await store.commit(PROJECTION, change({ put: rowsOf(...shuffled) }));
    expect((await store.rows(PROJECTION)).map(({ key }) => key)).toEqual(KEYS);
    expect(KEYS.toSorted()).toEqual(KEYS);
  });

  verify('projection-store:rows:options', async ({ store }) => {
    await store.commit(PROJECTION, change({ put: rowsOf(...KEYS, 'a\uffff', 'a\uffffx', '\uffffx') }));
    const all = (await store.rows(PROJECTION)).map(({ key }) => key);
    for (const prefix of [undefined, '', 'a', 'aa', 'a\uffff', '\uffff', '\u{1f600}', '1', 'missing']) {
      for (const from of [undefined, '', 'a', 'a0', 'aZ', '\u{1f600}', '\ue000', '\uffff', '\uffff\uffff']) {
        for (const limit of [undefined, 1, 3, 100]) {
          const expected = all
            .filter((key) => prefix === undefined || key.startsWith(prefix))
            .filter((key) => from === undefined || key >= from)
            .slice(0, limit);
          const options = {
            ...(prefix === undefined ? {} : { prefix }),
            ...(from === undefined ? {} : { from }),
            ...(limit === undefined ? {} : { limit }),
          };
          expect(await store.rows(PROJECTION, options)).toEqual(rowsOf(...expected));
        }
      }
    }
  });

  verify('projection-store:rows:exact-text', async ({ store }) => {
    const put = ['', '{"b":1.0,"a":1e3}', ' \t\r\n', '😀 漢字 é \u2028 \ufeff', 'x'.repeat(200_000)].map(
      (value, index) => ({
        key: `${index} 😀 "quoted" %'_\\`,
        value,
      }),
    );
    await store.commit(PROJECTION, change({ put }));
    expect(await store.rows(PROJECTION)).toEqual(put);
  });

  verify('projection-store:rows:input', async ({ store }) => {
    const rows = (options: object) => () => store.rows(PROJECTION, options);
    await expectInvalid('projection', () => store.rows(''));
    for (const limit of [0, -1, 1.5, '1']) await expectInvalid('limit', rows({ limit }));
    await expectInvalid('prefix', rows({ prefix: 1 }));
    await expectInvalid('from', rows({ from: null }));
  });
}
