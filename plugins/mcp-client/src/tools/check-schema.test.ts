import { describe, expect, test } from 'vitest';
import { checkSchema, SchemaRefused } from './check-schema.js';

const object = (properties: object, more: object = {}): object => ({ type: 'object', properties, ...more });

describe('a schema that can be used', () => {
  test('checks calls, and is shown to models with clean descriptions and nothing taken from its own words', () => {
    const { '~standard': schema } = checkSchema(
      object(
        {
          pattern: { type: 'string', pattern: '^[a-z]+$', description: 'A\u001b[1m name\u200b.' },
          description: { type: 'integer', default: 3 },
        },
        { required: ['pattern'], $schema: 'http://json-schema.org/draft-07/schema#', $id: 'urn:x' },
      ),
    );
    expect(schema.jsonSchema.input()).toEqual(
      object(
        {
          pattern: { type: 'string', pattern: '^[a-z]+$', description: 'A[1m name.' },
          description: { type: 'integer', default: 3 },
        },
        { required: ['pattern'] },
      ),
    );
    const input = { pattern: 'ABC' };
    // A pattern is the server's to check, and so is what it makes of what is not given.
    expect(schema.validate(input)).toEqual({ value: input });
    expect(schema.validate({ pattern: 'a', description: 'x' })).toMatchObject({ issues: [{ path: ['description'] }] });
    expect(schema.validate({})).toMatchObject({ issues: [{ path: ['pattern'] }] });
  });

  test('may refer to its own parts, and hold what this build cannot check', () => {
    const shared = object({ a: { $ref: '#/$defs/n' }, b: { $ref: '#/$defs/n' } }, { $defs: { n: { type: 'number' } } });
    expect(checkSchema(shared)['~standard'].validate({ a: 'x' })).toMatchObject({ issues: [{ path: ['a'] }] });
    const conditional = object({}, { if: { required: ['a'] }, then: { required: ['b'] } });
    expect(checkSchema(conditional)['~standard'].validate({ a: 1 })).toEqual({ value: { a: 1 } });
    expect(checkSchema(conditional)['~standard'].validate('text')).toHaveProperty('issues');
  });
});

test.each([
  ['itself', object({ a: { $ref: '#' } })],
  ['a circle of two', object({}, { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } })],
  ['a place that is not there', object({ a: { $ref: '#/$defs/none' } })],
  ['a prototype', object({ a: { $ref: '#/__proto__' } })],
  ['another file', object({ a: { $ref: 'other.json' } })],
  ['a dynamic place', object({ a: { $dynamicRef: '#x' } })],
  ['a constructor', object(JSON.parse('{"constructor":{"type":"string"}}') as object)],
  ['too many characters', object({ a: { enum: ['x'.repeat(70_000)] } })],
  ['no object', { type: 'array' }],
  ['a list', []],
])('one with %s is refused', (_, schema) => {
  expect(() => checkSchema(schema)).toThrow(SchemaRefused);
});
