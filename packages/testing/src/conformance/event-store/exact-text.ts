import { expect } from 'vitest';
import { newFact, readAll, recorded, store, withoutPosition } from '../facts.js';
import { take } from '../follower.js';
import type { EventStoreSuite } from './event-store-suite.js';

const STREAM = 'session-_.text';

/** JSON texts that a store which parses, normalises or re-encodes would change. */
const TEXTS = [
  '{}',
  'null',
  '""',
  '{"b":1,"a":2,"b":3}',
  '[1.0,1e3,1E+3,-0,0.1000,12345678901234567890,1e400]',
  ' { "spaced" :\t[ 1 , 2 ]\r\n} ',
  String.raw`{"escapes":"\u0000 \u001f \/ \\ \" \b\f\n\r\t \u00e9 \ud83d\ude00 \ud800 \udfff"}`,
  '{"latin":"é ü ß ÿ","cjk":"漢字","rtl":"שלום","combining":"e\u0301","nbsp":"\u00a0"}',
  '{"astral":"😀👩‍👩‍👧‍👦𝄞","edges":"\ud7ff\ue000\uffff\u{10000}\u{10ffff}"}',
  '{"controls":"\u007f\u0080\u2028\u2029\ufeff\ufffe"}',
  JSON.stringify({ long: 'The quick brown fox. '.repeat(4_000) }),
  JSON.stringify({ long: 'ünïcödé 漢字 😀 '.repeat(3_000) }),
];

/** Types with characters that a format of a store's own might use. */
const TYPES = ['Happened', 'a', 'plugin-name/Happened', 'A:1,2;3.4|5 6', '12', 'Größe', '😀/Happened'];

export function verifyExactText({ verify }: EventStoreSuite): void {
  verify('event-store:read:exact-text', async ({ store: events }) => {
    const facts = TEXTS.map((payload, index) =>
      newFact({
        payload,
        metadata: TEXTS[(index + 5) % TEXTS.length] ?? '{}',
        type: TYPES[index % TYPES.length] ?? 'Happened',
        ...(index % 3 === 1 ? { detail: true } : {}),
      }),
    );
    // Metadata that differs in the second half of an astral character only, or is a beginning of the next one.
    const near = ['{"a":"😀1"}', '{"a":"😁1"}', '{"a":"😂2"}'].map((metadata) => newFact({ metadata }));
    const nested = ['', '{', '{"a":1}', '{"a":1}'].map((metadata) => newFact({ metadata, payload: metadata }));
    const all = [...facts, ...near, ...nested];

    await store(events, STREAM, facts, 'none');
    await store(events, STREAM, near, facts.length - 1);
    await store(events, STREAM, nested, facts.length + near.length - 1);
    for (const [index, fact] of all.entries()) await store(events, `session-_.text${index}`, [fact], 'none');

    expect(withoutPosition(await readAll(events, STREAM))).toEqual(recorded(STREAM, all));
    expect(withoutPosition(await take(events, { stream: STREAM }, all.length))).toEqual(recorded(STREAM, all));
    for (const [index, fact] of all.entries()) {
      const stream = `session-_.text${index}`;
      expect(withoutPosition(await readAll(events, stream))).toEqual(recorded(stream, [fact]));
    }
    expect((await take(events, { all: true }, 2 * all.length)).slice(0, all.length)).toEqual(
      await readAll(events, STREAM),
    );
  });
}
