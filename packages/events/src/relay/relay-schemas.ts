import { z } from 'zod';
import type { JsonValue } from '../json.js';
import { relayColumnSchemas } from './column-schema.js';
import { sessionRow } from './row-schema.js';

const storedFact = z.object({
  stream: z.string(),
  revision: z.int().nonnegative(),
  position: z.string(),
  id: z.string(),
  type: z.string(),
  payload: z.string().describe('The stored JSON text, byte for byte. Its schema is that of the type and version.'),
  metadata: z.string().describe('The stored JSON text, byte for byte, with the hashes of the chain.'),
});

const factMessage = z.object({
  ...relayColumnSchemas,
  fact: storedFact.nullable().describe('The fact as it is stored; `null` in a stub.'),
});

/** A header is text, also where it is a number. */
const whole = z.string().regex(/^\d{1,15}$/);
const headers = {
  'content-type': z.literal('application/json'),
  ce_specversion: z.literal('1.0'),
  ce_id: z.string().describe('The event id of the fact.'),
  ce_source: z.string().describe('`/perdure/<store id>`'),
  ce_type: z.string().describe('`dev.perdure.<Type>.v<version>`'),
  ce_subject: z.string().describe('The key of the message: `<tenant>.<session id>`, with `_` for no tenant.'),
  ce_revision: whole.describe('The place in the stream, from 0.'),
  ce_position: z.string().describe('The place in the store; sorts as text.'),
};

const factHeaders = z.object({
  ...headers,
  ce_dataschema: z.string().describe('`urn:perdure:schema:<Type>:v<version>`'),
  ce_stream: z.string(),
  ce_prevrevision: whole
    .describe("The revision of the stream's message before. Absent when there is none that could be missing.")
    .exactOptional(),
  ce_time: z.string().meta({ format: 'date-time' }).exactOptional(),
  ce_tenant: z.string().exactOptional(),
  ce_deadletter: z.string().describe('Of a stub: `<topic>/<partition>/<offset>`.').exactOptional(),
});

/**
 * What is on the topics, by the names of the files in `schemas/relay`. All of them are open: readers pass by the
 * members that they do not know.
 */
export const relaySchemas = {
  'fact-message.v1': factMessage,
  'fact-headers.v1': factHeaders,
  'session-row.v1': sessionRow,
  'session-row-headers.v1': z.object({ ...headers, ce_type: z.literal('dev.perdure.session-state.v1') }),
  'dead-letter-headers.v1': factHeaders.extend({
    ce_deadletterreason: z.string().describe('Why the fact is here: `message-too-large`.'),
  }),
} as const;
export type RelaySchemaName = keyof typeof relaySchemas;

/** The JSON Schema (draft 2020-12) of a value or of the headers on a topic. */
export function relayJsonSchema(name: RelaySchemaName): Readonly<Record<string, JsonValue>> {
  const schema: z.ZodType = relaySchemas[name];
  const { $schema = '', ...shape } = z.toJSONSchema(schema, { target: 'draft-2020-12', io: 'input' });
  return { $schema, title: name.replace(/\.(v\d+)$/, ' $1'), ...(shape as Record<string, JsonValue>) };
}
