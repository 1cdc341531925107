import { budgetDefinition, budgetTypes, coreDefinition, coreTypes, jsonSchemaOf } from '@perdure/events';
import type { Pin } from './exported-names.js';

/** The published JSON Schema of every core fact in its newest version. Those of older versions stay as they are. */
export function schemaPins(): readonly Pin[] {
  return [...coreTypes.map(coreDefinition), ...budgetTypes.map(budgetDefinition)].map((definition) => ({
    path: `packages/events/schemas/${definition.type}.v${definition.version}.json`,
    text: `${JSON.stringify(jsonSchemaOf(definition), null, 2)}\n`,
  }));
}
