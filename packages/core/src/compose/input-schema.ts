import type { JsonValue } from '@perdure/events';
import { z } from 'zod';
import { refuseLater } from '../invoke/refuse-later.js';

/** A tool's input schema as the runtime uses it. */
export interface InputSchema {
  /** JSON Schema for models. */
  readonly json: JsonValue;
  /** The value that the tool gets, or the first thing that is wrong. */
  validate(input: JsonValue): Validation;
}

export type Validation =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly field: string; readonly reason: string };

interface StandardSchema {
  readonly '~standard': {
    readonly vendor: string;
    validate(value: unknown): StandardResult | Promise<StandardResult>;
    readonly jsonSchema?: { input?(options: { readonly target: string }): unknown };
  };
}
type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] }[] };

/**
 * Reads a Standard Schema, a JSON Schema, or a JSON Schema as `{ jsonSchema }`. Throws a TypeError for anything else.
 */
export function readSchema(schema: unknown): InputSchema {
  if (typeof schema !== 'object' && typeof schema !== 'function') throw new TypeError('it is not an object');
  if (schema === null) throw new TypeError('it is null');
  if ('~standard' in schema) return ofStandardSchema(schema as StandardSchema);
  const json = 'jsonSchema' in schema ? schema.jsonSchema : schema;
  if (typeof json !== 'object' || json === null || json instanceof Promise) throw new TypeError('it is no JSON Schema');
  const plain = JSON.parse(JSON.stringify(json)) as JsonValue;
  return { json: plain, validate: validatorOf(z.fromJSONSchema(json as Parameters<typeof z.fromJSONSchema>[0])) };
}

function ofStandardSchema(schema: StandardSchema): InputSchema {
  const json = jsonOf(schema);
  return {
    json,
    validate: (input) => {
      // A gate that is a rule answers at once and always the same; a schema that waits is no rule. Some schemas make a
      // promise of what a check of theirs throws.
      const result = refuseLater(schema['~standard'].validate(input)) as StandardResult;
      return result.issues === undefined ? { ok: true, value: result.value } : wrong(result.issues);
    },
  };
}

function jsonOf(schema: StandardSchema): JsonValue {
  if (schema['~standard'].vendor === 'zod' && '_zod' in schema) {
    return z.toJSONSchema(schema as unknown as z.ZodType, { io: 'input' }) as JsonValue;
  }
  const json = schema['~standard'].jsonSchema?.input?.({ target: 'draft-2020-12' });
  if (json === undefined) throw new TypeError('it cannot tell its JSON Schema');
  return JSON.parse(JSON.stringify(json)) as JsonValue;
}

function validatorOf(schema: z.ZodType): (input: JsonValue) => Validation {
  return (input) => {
    const result = schema.safeParse(input);
    return result.success ? { ok: true, value: result.data } : wrong(result.error.issues);
  };
}

function wrong(issues: readonly { readonly message: string; readonly path?: readonly unknown[] }[]): Validation {
  const [first] = issues;
  const path = (first?.path ?? []).map((step) =>
    String(typeof step === 'object' && step !== null && 'key' in step ? step.key : step),
  );
  return { ok: false, field: path.join('.'), reason: first?.message ?? 'not valid' };
}
