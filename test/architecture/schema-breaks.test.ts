import { describe, expect, test } from 'vitest';
import { currentSchemas, lastRelease } from './released-schemas.js';
import { breakRules, schemaBreaks, type BreakRule, type SchemaSet } from './schema-breaks.js';

/** A JSON Schema that a test changes. */
interface Schema {
  type?: string;
  properties: Record<string, Schema>;
  required: string[];
  items: Schema;
  oneOf: Schema[];
  enum: string[];
  anyOf?: Schema[];
  [keyword: string]: unknown;
}
type Schemas = Record<string, Schema>;
type Plant = (schemas: Schemas) => void;

const advice = 'Readers of the last release break. Keep the shape, or raise the version of the type (and upcast).';
const released = lastRelease();

/** What the check finds when somebody changes the schemas of the last release in this way. */
function breaksOf(plant: Plant): readonly string[] {
  const changed = structuredClone(released.schemas) as unknown as Schemas;
  plant(changed);
  if (JSON.stringify(changed) === JSON.stringify(released.schemas)) throw new Error('Nothing was planted.');
  return schemaBreaks(released.schemas, changed as unknown as SchemaSet).map(
    ({ schema, path, rule }) => `${rule} ${schema} ${path}`,
  );
}

const answered = 'ModelAnswered.v1.json';
const settled = 'ToolCallSettled.v1.json';
const message = 'relay/fact-message.v1.json';
const at = (schemas: Schemas, name: string): Schema => {
  const schema = schemas[name];
  if (schema === undefined) throw new Error(`There is no schema ${name}.`);
  return schema;
};
const member = (schema: Schema, name: string): Schema => at(schema.properties, name);
const without = (names: readonly string[], name: string): string[] => names.filter((each) => each !== name);
const drop = (schema: Schema, name: string): void => {
  delete schema.properties[name];
  schema.required = without(schema.required, name);
};
const parts = (schemas: Schemas): Schema => member(at(schemas, answered), 'parts').items;
const variant = (word: string): Schema => ({
  ...structuredClone(at(released.schemas as unknown as Schemas, answered)),
  properties: { type: { type: 'string', const: word } as unknown as Schema },
  required: ['type'],
});

const plants: readonly (readonly [string, BreakRule, string, Plant])[] = [
  ['a type that is gone', 'schema-removed', `${settled} `, (all) => delete all[settled]],
  ['a member that is gone', 'member-removed', `${answered} /usage`, (all) => drop(at(all, answered), 'usage')],
  [
    'an optional member that is gone',
    'member-removed',
    `${answered} /firstDeltaAt`,
    (all) => drop(at(all, answered), 'firstDeltaAt'),
  ],
  [
    'a column that is gone',
    'member-removed',
    `${message} /cost_micros`,
    (all) => drop(at(all, message), 'cost_micros'),
  ],
  [
    'a member of a member that was renamed',
    'member-removed',
    `${answered} /usage/inputTokens`,
    (all) => {
      const usage = member(at(all, answered), 'usage');
      usage.properties['promptTokens'] = member(usage, 'inputTokens');
      drop(usage, 'inputTokens');
    },
  ],
  [
    'a new member that every fact must have',
    'member-required',
    `${settled} /region`,
    (all) => {
      at(all, settled).properties['region'] = { type: 'string' } as Schema;
      at(all, settled).required.push('region');
    },
  ],
  [
    'a member that every fact must have from now on',
    'member-required',
    `${settled} /output`,
    (all) => at(all, settled).required.push('output'),
  ],
  [
    'a member that was always there and may be absent',
    'member-optional',
    `${settled} /endedAt`,
    (all) => (at(all, settled).required = without(at(all, settled).required, 'endedAt')),
  ],
  [
    'a narrower type',
    'type-changed',
    'BudgetLimitSet.v1.json /soft',
    (all) => (member(at(all, 'BudgetLimitSet.v1.json'), 'soft').type = 'integer'),
  ],
  [
    'a wider type',
    'type-changed',
    `${settled} /endedAt`,
    (all) => (member(at(all, settled), 'endedAt').type = 'number'),
  ],
  [
    'a value that may be null',
    'type-changed',
    `${settled} /callId`,
    (all) => (at(all, settled).properties['callId'] = { anyOf: [{ type: 'string' }, { type: 'null' }] } as Schema),
  ],
  [
    'a column that is never null, where facts from before have none',
    'type-changed',
    `${message} /tenant`,
    (all) => (at(all, message).properties['tenant'] = { type: 'string' } as Schema),
  ],
  [
    'a narrower bound',
    'changed',
    `${answered} /attempt.maximum`,
    (all) => (member(at(all, answered), 'attempt')['maximum'] = 9),
  ],
  [
    'a new bound',
    'changed',
    `${answered} /model.maxLength`,
    (all) => (member(at(all, answered), 'model')['maxLength'] = 8),
  ],
  [
    'a pattern',
    'changed',
    `relay/fact-headers.v1.json /ce_revision.pattern`,
    (all) => (member(at(all, 'relay/fact-headers.v1.json'), 'ce_revision')['pattern'] = '^r'),
  ],
  [
    'a word of a list that is gone',
    'word-removed',
    `${settled} /status="unknown"`,
    (all) => (member(at(all, settled), 'status').enum = without(member(at(all, settled), 'status').enum, 'unknown')),
  ],
  [
    'text that becomes a list of words',
    'changed',
    `${answered} /model`,
    (all) => (member(at(all, answered), 'model').enum = ['a']),
  ],
  [
    'a variant that is gone',
    'variant-removed',
    `${answered} /parts[]|type=reasoning`,
    (all) => void parts(all).oneOf.splice(1, 1),
  ],
  [
    'a variant whose word is another',
    'variant-removed',
    `${answered} /parts[]|type=text`,
    (all) => (member(at(Object.fromEntries(parts(all).oneOf.entries()) as Schemas, '0'), 'type')['const'] = 'words'),
  ],
  [
    'a variant without a word of its own',
    'variant-unmarked',
    `${answered} /parts[]`,
    (all) => void parts(all).oneOf.push({ type: 'string' } as Schema),
  ],
  [
    'a member of a variant that is gone',
    'member-removed',
    `${answered} /parts[]|type=text/text`,
    (all) => drop(at(Object.fromEntries(parts(all).oneOf.entries()) as Schemas, '0'), 'text'),
  ],
  [
    'a shared definition that changed',
    'type-changed',
    `${answered} #ProviderMetadata`,
    (all) => ((all[answered] as unknown as { $defs: Schemas }).$defs['ProviderMetadata'] = { type: 'array' } as Schema),
  ],
];

const additions: readonly (readonly [string, Plant])[] = [
  ['a type', (all) => (all['WeatherSeen.v1.json'] = at(all, settled))],
  ['a version of a type, beside the one that there is', (all) => (all['ToolCallSettled.v2.json'] = variant('other'))],
  ['a member that may be absent', (all) => (at(all, settled).properties['region'] = { type: 'string' } as Schema)],
  ['a column that may be absent', (all) => (at(all, message).properties['region'] = { type: 'string' } as Schema)],
  ['a word of a list', (all) => void member(at(all, settled), 'status').enum.push('skipped')],
  ['a variant with a word of its own', (all) => void parts(all).oneOf.push(variant('source'))],
  ['a description', (all) => (member(at(all, settled), 'callId')['description'] = 'Which call.')],
  [
    'another order',
    (all) => {
      at(all, settled).required.reverse();
      at(all, settled).properties = Object.fromEntries(Object.entries(at(all, settled).properties).reverse());
      parts(all).oneOf.reverse();
      member(at(all, settled), 'status').enum.reverse();
    },
  ],
];

describe('published schemas', () => {
  test(`do not break readers of the last release, ${released.version}`, () => {
    const current = currentSchemas();
    expect(Object.keys(current).length).toBeGreaterThan(50);
    expect(schemaBreaks(released.schemas, current), advice).toEqual([]);
  });
});

describe('the check of schemas', () => {
  test.each(plants)('finds %s', (_, rule, place, plant) => {
    expect(breaksOf(plant)).toEqual(expect.arrayContaining([`${rule} ${place}`]));
    // What is broken is told once, and nothing beside it.
    expect(new Set(breaksOf(plant).map((one) => one.split(' ')[1])).size).toBe(1);
  });

  test('has a plant for each of its rules', () => {
    expect(new Set(plants.map(([, rule]) => rule))).toEqual(new Set(Object.keys(breakRules)));
  });

  test.each(additions)('lets pass %s', (_, plant) => {
    expect(breaksOf(plant)).toEqual([]);
  });
});
