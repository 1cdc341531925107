import { crc32 } from 'node:zlib';
import type { NewFact } from '@perdure/plugin-api';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { factsOf, openBatch, type BatchRow } from './batch-row.js';
import { isStorable, packBatch, parseShape, placeSum } from './packing.js';
import { positionText } from './position.js';
import { ID_BYTES, writeUuid } from './uuid.js';

const STREAM = 'session-_.a';

const text = fc.oneof(
  fc.json(),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom('', '{"a":"😀"}', '😁x'),
);
const fact: fc.Arbitrary<NewFact> = fc.record({
  id: fc.uuid(),
  type: fc.oneof(
    fc.constantFrom('Happened', 'x/Y', '1.2:3!'),
    fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }),
  ),
  payload: text,
  metadata: fc.tuple(fc.constantFrom('', '{"sessionId":"s",', '😀'), text).map((parts) => parts.join('')),
  detail: fc.boolean(),
});
const batch = fc.array(fact, { minLength: 1, maxLength: 6 });

/** The row that a table would hold, with its last fact at a position and a revision. */
function rowOf(facts: readonly NewFact[], position: number, revision: number): BatchRow {
  const ids = new Uint8Array(facts.length * ID_BYTES);
  for (const [index, { id }] of facts.entries()) expect(writeUuid(id, ids, index * ID_BYTES)).toBe(true);
  const packed = packBatch(facts, ids);
  const shape = `${placeSum(positionText(position, 0), 7, revision, packed.shape)}.${packed.shape}`;
  const hexIds = Buffer.from(ids).toString('hex');
  return [position, 0, 7, revision, shape, hexIds, packed.metadata, packed.body, packed.detail];
}

function unpack(row: BatchRow, omitDetail = false): ReturnType<typeof factsOf> {
  return factsOf(row, openBatch(row, STREAM), STREAM, { omitDetail });
}

describe('a row', () => {
  test('gives back every text, id, type and place', () => {
    fc.assert(
      fc.property(batch, fc.nat(), fc.nat(), (facts, before, behind) => {
        const revision = before + facts.length - 1;
        const position = behind + facts.length;
        const expected = facts.map(({ id, type, payload, metadata }, index) => ({
          stream: STREAM,
          revision: before + index,
          position: positionText(behind + index + 1, 0),
          id,
          type,
          payload,
          metadata,
        }));
        expect(unpack(rowOf(facts, position, revision))).toEqual(expected);
        const row = rowOf(facts, position, revision).slice(0, 8) as unknown as BatchRow;
        expect(unpack(row, true)).toEqual(expected.filter((_, index) => facts[index]?.detail !== true));
      }),
    );
  });

  test('is refused when one character, number or id of it is another one', () => {
    fc.assert(
      fc.property(batch, fc.nat({ max: 8 }), fc.nat(), (facts, column, place) => {
        const row = [...rowOf(facts, 20, 10)];
        const value = row[column];
        if (typeof value === 'number') row[column] = value + 1 + (place % 5);
        else if (typeof value === 'string' && value !== '') row[column] = changedAt(value, place % value.length);
        else row[column] = 'x';
        expect(() => unpack(row as unknown as BatchRow)).toThrow(/damaged/);
      }),
    );
  });

  test('is refused when a column has another type', () => {
    for (let column = 0; column <= 7; column++) {
      for (const value of [null, new Uint8Array(16), 1.5, -1, undefined]) {
        const row = [
          ...rowOf([{ id: '5eed0000-0000-4000-8000-000000000001', type: 'A', payload: '{}', metadata: '{}' }], 1, 0),
        ];
        row[column] = value;
        expect(() => unpack(row as unknown as BatchRow)).toThrow(/damaged/);
      }
    }
  });

  test('keeps the beginning that all metadata texts share once, and never half of a character', () => {
    const facts = ['{"a":"😀1"}', '{"a":"😁2"}', '{"a":"😂3"}'].map((metadata, index) => ({
      id: `5eed0000-0000-4000-8000-00000000000${index}`,
      type: 'A',
      payload: '{}',
      metadata,
    }));
    const packed = packBatch(facts, new Uint8Array(48));
    expect(packed.metadata).toBe('{"a":"');
    expect(packed.body).toBe('😀1"}{}😁2"}{}😂3"}{}');
    expect(packBatch(facts.slice(0, 1), new Uint8Array(16)).metadata).toBe('{"a":"😀1"}');
  });

  test('is storable unless a text has no UTF-8 form', () => {
    const facts = (payload: string): NewFact[] => [
      { id: '5eed0000-0000-4000-8000-000000000001', type: 'A', payload, metadata: '{}' },
    ];
    expect(isStorable(packBatch(facts('"😀"'), new Uint8Array(16)))).toBe(true);
    expect(isStorable(packBatch(facts('"\ud83d"'), new Uint8Array(16)))).toBe(false);
    expect(isStorable(packBatch(facts('"\0"'), new Uint8Array(16)))).toBe(false);
  });
});

describe('a shape', () => {
  test('is a fixed text', () => {
    const facts = [
      { id: '5eed0000-0000-4000-8000-000000000001', type: 'ModelAnswered', payload: '{"a":1}', metadata: '{"b":1}' },
      { id: '5eed0000-0000-4000-8000-000000000002', type: 'x/Y', payload: '{}', metadata: '{"b":23}', detail: true },
    ];
    const { shape, metadata, body, detail } = packBatch(facts, new Uint8Array(32));
    const ids = '5eed00000000400080000000000000015eed0000000040008000000000000002';
    expect({ metadata, body, detail }).toEqual({ metadata: '{"b":', body: '1}{"a":1}', detail: '23}{}' });
    expect(shape).toBe(`${crc32(`${ids}{"b":1}{"a":1}`)}.${crc32('23}{}')};13.2.7:ModelAnswered3.3.2!x/Y`);
  });

  test('that is none is not taken apart', () => {
    const good = '1.2.3;1.2.3:A';
    expect(parseShape(good)?.facts).toEqual([{ type: 'A', isDetail: false, metadataRest: 2, payload: 3 }]);
    for (const bad of [
      '',
      '1.2.3;',
      '1.2.3',
      '1.2;1.2.3:A',
      'x.2.3;1.2.3:A',
      '1.2.3;2.2.3:A',
      '1.2.3;1.2.3?A',
      '1.2.3;1.2.3:A1',
    ]) {
      expect(parseShape(bad)).toBeUndefined();
    }
  });
});

function changedAt(value: string, at: number): string {
  return value.slice(0, at) + (value[at] === 'a' ? 'b' : 'a') + value.slice(at + 1);
}
