import {
  budgetDefinition,
  budgetTypes,
  coreDefinition,
  coreTypes,
  jsonSchemaOf,
  relayJsonSchema,
  relaySchemas,
  type EventDefinition,
  type RelaySchemaName,
} from '@perdure/events';
import type { Pin } from './exported-names.js';

export const SCHEMAS = 'packages/events/schemas';

/** All facts of sessions and of budgets, in the order of the catalogue. */
export const definitions: readonly EventDefinition[] = [
  ...coreTypes.map(coreDefinition),
  ...budgetTypes.map(budgetDefinition),
];

/**
 * The published JSON Schema of every core fact in its newest version, and of what is on topics. Those of older versions
 * stay as they are.
 */
export function schemaPins(): readonly Pin[] {
  const names = Object.keys(relaySchemas) as RelaySchemaName[];
  return [
    ...definitions.map((definition) => ({
      path: `${SCHEMAS}/${definition.type}.v${definition.version}.json`,
      text: `${JSON.stringify(jsonSchemaOf(definition), null, 2)}\n`,
    })),
    ...names.map((name) => ({
      path: `${SCHEMAS}/relay/${name}.json`,
      text: `${JSON.stringify(relayJsonSchema(name), null, 2)}\n`,
    })),
  ];
}
