import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { budgetDefinition, budgetTypes, isBudgetType } from './budget.js';
import { coreDefinition, coreTypes, isCoreType } from './catalogue.js';
import { jsonSchemaOf } from './json-schema.js';

const folder = (name: string): URL => new URL(`../${name}/`, import.meta.url);
const fixture = z.strictObject({ type: z.string(), version: z.int().positive(), payload: z.unknown() });

function readFixture(file: string): z.output<typeof fixture> {
  return fixture.parse(JSON.parse(readFileSync(new URL(file, folder('fixtures')), 'utf8')));
}

/** Those of sessions and those of budgets. */
const definitions = [...coreTypes.map(coreDefinition), ...budgetTypes.map(budgetDefinition)];
const current = definitions.map((definition) => [definition.type, definition.version, definition] as const);
/** One file for each version that a type has had. */
const expectedFiles = current
  .flatMap(([type, version]) => Array.from({ length: version }, (_, index) => `${type}.v${index + 1}.json`))
  .sort();

describe('the catalogue', () => {
  test('names every fact by its own type, in PascalCase and without a slash', () => {
    const types = [...coreTypes, ...budgetTypes];
    expect(definitions.map(({ type }) => type)).toEqual(types);
    for (const type of types) {
      expect(type).toMatch(/^(?:[A-Z][a-z]+)+$/);
    }
  });

  test('knows its types and nothing that an object inherits', () => {
    expect(isCoreType('PromptAccepted')).toBe(true);
    expect(isBudgetType('BudgetReserved')).toBe(true);
    expect(isCoreType('BudgetReserved')).toBe(false);
    for (const type of ['promptAccepted', 'toString', '__proto__', 'constructor', 'example/Noted', '']) {
      expect(isCoreType(type)).toBe(false);
      expect(isBudgetType(type)).toBe(false);
    }
  });

  test('has a fixture and a JSON Schema for every type and version, and none besides', () => {
    const fixtures = readdirSync(folder('fixtures')).filter((file) => !file.startsWith('hash-chain.'));
    expect(fixtures.sort()).toEqual(expectedFiles);
    const schemas = readdirSync(folder('schemas')).filter((file) => file !== 'relay');
    expect(schemas.sort()).toEqual(expectedFiles);
  });
});

describe.each(current)('%s in version %i', (type, version, definition) => {
  const example = readFixture(`${type}.v${version}.json`);

  test('reads its fixture without a change', () => {
    expect(example).toMatchObject({ type, version });
    expect(definition.schema.parse(example.payload)).toEqual(example.payload);
  });

  test('refuses a member that it does not know, and a payload without any', () => {
    expect(definition.schema.safeParse({ ...(example.payload as object), invented: 1 }).success).toBe(false);
    expect(definition.schema.safeParse({}).success).toBe(false);
  });

  test('has the JSON Schema that is published', () => {
    const file = new URL(`${type}.v${version}.json`, folder('schemas'));
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(jsonSchemaOf(definition));
  });

  test('can be read again through its JSON Schema', () => {
    const reader = z.fromJSONSchema(jsonSchemaOf(definition) as Parameters<typeof z.fromJSONSchema>[0]);
    expect(reader.parse(example.payload)).toEqual(example.payload);
    expect(reader.safeParse({ ...(example.payload as object), invented: 1 }).success).toBe(false);
  });
});
