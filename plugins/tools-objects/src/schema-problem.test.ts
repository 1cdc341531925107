import { expect, test } from 'vitest';
import { schemaProblem } from './schema-problem.js';

test('schemas that could do harm are refused, and names of properties are only names', () => {
  expect(schemaProblem({ type: 'object', properties: { pattern: { type: 'string' } } })).toBeUndefined();
  expect(schemaProblem({ $defs: { a: { type: 'string' } }, $ref: '#/$defs/a' })).toBeUndefined();
  expect(schemaProblem({ items: [{ pattern: 'a' }] })).toContain('"pattern"');
  expect(schemaProblem({ patternProperties: { a: {} } })).toContain('"patternProperties"');
  expect(schemaProblem({ allOf: [{ $ref: 'https://x/y' }] })).toContain('another document');
  expect(schemaProblem({ description: 'x'.repeat(70_000) })).toContain('characters');
  let deep: Record<string, never> | object = {};
  for (let level = 0; level < 40; level++) deep = { not: deep };
  expect(schemaProblem(deep as never)).toContain('levels');
});
