import { z } from 'zod';
import type { EventDefinition } from './define-event.js';
import type { JsonValue } from './json.js';

/**
 * The JSON Schema (draft 2020-12) of a fact's payload, for readers in other languages. The published ones are in
 * `schemas/<Type>.v<version>.json`.
 */
export function jsonSchemaOf({ type, version, schema }: EventDefinition): Readonly<Record<string, JsonValue>> {
  const { $schema = '', ...shape } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'output' });
  return { $schema, title: `${type} v${version}`, ...(shape as Record<string, JsonValue>) };
}
