import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { coreTypes } from './catalogue.js';
import { defineEvent } from './define-event.js';
import { FactRegistry, readMetadata, wireTypes, type RecordedFact, type Upcaster } from './fact-registry.js';
import type { JsonValue } from './json.js';

const metadata = {
  sessionId: 's',
  actor: { kind: 'host' },
  lane: 'owner',
  epoch: 1,
  time: 1_793_452_800_000,
  schemaVersion: 1,
  prevHash: '0'.repeat(64),
  hash: 'a'.repeat(64),
};

function recorded(type: string, payload: JsonValue, more: Readonly<Record<string, JsonValue>> = {}): RecordedFact {
  return {
    stream: 'session-_.s',
    revision: 0,
    position: '0000000000000001',
    id: '6f1a3c52-7d0e-5b0a-9c1f-0d6c4f1b2a01',
    type,
    payload: JSON.stringify(payload),
    metadata: JSON.stringify({ ...metadata, ...more }),
  };
}

/** A plugin's fact in its third version: 1 had Fahrenheit, 2 renamed the member, 3 wants Celsius. */
const measured = defineEvent({
  type: 'weather/Measured',
  version: 3,
  lane: 'owner',
  schema: z.strictObject({ celsius: z.number() }),
  wire: { type: 'weather_measured', payload: ({ celsius }) => ({ celsius }) },
});
const upcasters: readonly Upcaster[] = [
  { type: 'weather/Measured', from: 1, upcast: (payload) => ({ fahrenheit: member(payload, 'temperature') }) },
  { type: 'weather/Measured', from: 2, upcast: (payload) => ({ celsius: (member(payload, 'fahrenheit') - 32) / 1.8 }) },
];

function member(payload: JsonValue, name: string): number {
  return Number(Reflect.get(Object(payload) as object, name));
}

describe('reading facts', () => {
  test.each([
    [1, { temperature: 212 }],
    [2, { fahrenheit: 212 }],
    [3, { celsius: 100 }],
  ])('brings version %i of a fact of a plugin to the version that is folded', (schemaVersion, payload) => {
    const registry = new FactRegistry([measured], upcasters);
    const fact = recorded('weather/Measured', payload, { schemaVersion });
    expect(registry.read(fact)).toEqual({ kind: 'known', type: 'weather/Measured', payload: { celsius: 100 } });
    expect(fact.payload).toBe(JSON.stringify(payload));
  });

  test('fails on an old version that no upcaster leads on from', () => {
    const registry = new FactRegistry([measured], upcasters.slice(1));
    expect(() => registry.read(recorded('weather/Measured', {}))).toThrow('No upcaster leads from weather/Measured@1');
  });

  test('[P6] keeps the fact of a missing plugin whole, as opaque', () => {
    const payload = { deep: [{ a: 1, __proto__: null }], text: 'é' };
    const fact = recorded('weather/Measured', payload, { schemaVersion: 2 });
    expect(new FactRegistry().read(fact)).toEqual({ kind: 'opaque', type: fact.type, version: 2, payload });
  });

  test('[P6] keeps the newer fact of a plugin whole, as opaque', () => {
    const fact = recorded('weather/Measured', { kelvin: 373 }, { schemaVersion: 4 });
    const read = new FactRegistry([measured], upcasters).read(fact);
    expect(read).toEqual({ kind: 'opaque', type: fact.type, version: 4, payload: { kelvin: 373 } });
  });

  test('[P6] does not run past an essential fact of a missing plugin', () => {
    const fact = recorded('weather/Measured', {}, { essential: true });
    expect(new FactRegistry().read(fact).kind).toBe('newer');
    expect(new FactRegistry().read(recorded('weather/Measured', {}, { essential: false })).kind).toBe('opaque');
  });

  test.each(['SomethingNew', '__proto__', 'toString', ''])(
    '[P6] does not run past the unknown core fact "%s"',
    (type) => {
      expect(new FactRegistry().read(recorded(type, { a: 1 }))).toEqual({
        kind: 'newer',
        type,
        version: 1,
        payload: { a: 1 },
      });
    },
  );

  test.each(coreTypes)('[P6] does not run past a newer %s', (type) => {
    expect(new FactRegistry().read(recorded(type, {}, { schemaVersion: 99 }))).toMatchObject({
      kind: 'newer',
      version: 99,
    });
    expect(new FactRegistry().read(recorded(type, {}))).toEqual({ kind: 'known', type, payload: {} });
  });

  test('takes the version from its own member, whatever labels spell', () => {
    const fact = recorded('weather/Measured', {}, { principal: '"schemaVersion":7', schemaVersion: 2 });
    const spaced = { ...fact, metadata: JSON.stringify({ ...metadata, schemaVersion: 5 }, null, 1) };
    const registry = new FactRegistry();
    expect(registry.read(fact)).toMatchObject({ version: 2 });
    expect(registry.read(spaced)).toMatchObject({ version: 5 });
  });

  test('fails on texts that are no fact', () => {
    const fact = recorded('StopRequested', { turnId: 't' });
    expect(() => new FactRegistry().read({ ...fact, payload: '{"turnId":' })).toThrow(SyntaxError);
    expect(() => new FactRegistry().read({ ...fact, metadata: '{}' })).toThrow(z.ZodError);
    expect(() => readMetadata('{"sessionId":1}')).toThrow(z.ZodError);
  });
});

describe('the registry', () => {
  test('refuses facts of plugins that look like core facts or are there twice', () => {
    const impostor = defineEvent({ ...measured, type: 'StopRequested', schema: measured.schema, wire: measured.wire });
    expect(() => new FactRegistry([impostor])).toThrow("A plugin's fact is named <plugin>/<Type>");
    expect(() => new FactRegistry([measured, measured])).toThrow('Two plugins define the fact weather/Measured');
    expect(() => new FactRegistry([measured], [...upcasters, ...upcasters])).toThrow('Two upcasters start from');
  });

  test('describes alike what folds alike, in whatever order plugins come', () => {
    const other = defineEvent({ ...measured, type: 'other/Measured', schema: measured.schema, wire: measured.wire });
    const one = new FactRegistry([measured, other], upcasters).description();
    const turned = new FactRegistry([other, measured], [...upcasters].reverse()).description();
    expect(turned).toEqual(one);
    expect(new FactRegistry([measured], upcasters).description()).not.toEqual(one);
    expect(new FactRegistry([measured, other]).description()).not.toEqual(one);
  });

  test('lists each wire type of the core once', () => {
    expect(new Set(wireTypes).size).toBe(wireTypes.length);
    expect(wireTypes).toContain('agent_start');
  });
});
