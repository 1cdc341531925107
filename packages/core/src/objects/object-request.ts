import type { ObjectMessage, ObjectRequest } from '@perdure/plugin-api';
import { reasonOf } from '@perdure/plugin-api';
import { z } from 'zod';
import { readSchema, type InputSchema } from '../compose/input-schema.js';
import { invalidInput, isObject } from '../session/session-input.js';

/** A request for an object, whole and checked. */
export interface CheckedObjectRequest {
  readonly schema: InputSchema;
  readonly messages: readonly ObjectMessage[];
  readonly name: string | undefined;
  readonly model: string | undefined;
  readonly maxRepairs: number;
  readonly onPartial: ObjectRequest['onPartial'];
  readonly signal: AbortSignal | undefined;
}

const LARGEST_REPAIRS = 10;

const members = z.strictObject({
  schema: z.unknown(),
  prompt: z.string().min(1).exactOptional(),
  messages: z
    .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() }))
    .min(1)
    .exactOptional(),
  name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .exactOptional(),
  model: z.string().min(1).exactOptional(),
  maxRepairs: z.int().nonnegative().max(LARGEST_REPAIRS).default(2),
  onPartial: z.custom<NonNullable<ObjectRequest['onPartial']>>((value) => typeof value === 'function').exactOptional(),
  signal: z.custom<AbortSignal>((value) => value instanceof AbortSignal).exactOptional(),
});

/** Throws PERDURE_INPUT_INVALID naming the field. */
export function checkObjectRequest(request: ObjectRequest): CheckedObjectRequest {
  if (!isObject(request)) throw invalidInput('request', 'it is an object');
  const checked = members.safeParse(request);
  if (!checked.success) {
    const issue = checked.error.issues[0];
    const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
    throw invalidInput(unknown ?? issue?.path.join('.') ?? 'request', issue?.message ?? 'not valid');
  }
  const { prompt, messages, name, model, maxRepairs, onPartial, signal } = checked.data;
  if ((prompt === undefined) === (messages === undefined)) throw invalidInput('prompt', 'there is it or `messages`');
  return {
    schema: schemaOf(request.schema),
    messages: messages ?? [{ role: 'user', content: prompt ?? '' }],
    name,
    model,
    maxRepairs,
    onPartial,
    signal,
  };
}

function schemaOf(schema: unknown): InputSchema {
  try {
    return readSchema(schema);
  } catch (error) {
    throw invalidInput('schema', reasonOf(error));
  }
}
