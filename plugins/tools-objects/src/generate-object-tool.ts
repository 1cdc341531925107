import type { JsonValue } from '@perdure/events';
import { PerdureError, type Tool, type ToolContext } from '@perdure/plugin-api';
import { z } from 'zod';
import { schemaProblem } from './schema-problem.js';

const MOST_DESCRIPTION_BYTES = 4_096;
const MOST_SYSTEM_BYTES = 32_768;

const bytesAtMost = (limit: number) =>
  z.string().refine((text) => Buffer.byteLength(text) <= limit, `it has more than ${limit} bytes`);

const inputSchema = z.strictObject({
  schema: z
    .record(z.string(), z.json())
    .superRefine((schema, context) => {
      const problem = schemaProblem(schema);
      if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
    })
    .describe('a JSON Schema; without patterns and references to other documents'),
  prompt: z.string().trim().min(1).max(1_000_000).describe('what the object is about, with everything it is made of'),
  schema_name: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/)
    .optional(),
  schema_description: bytesAtMost(MOST_DESCRIPTION_BYTES).optional().describe('what the object is'),
  system: bytesAtMost(MOST_SYSTEM_BYTES).optional().describe('instructions'),
  max_repair_attempts: z.int().min(0).max(5).default(2).describe('how often a wrong answer is sent back'),
  include_raw_text: z.boolean().default(false).describe('also return the answer as it was written'),
  timeout_ms: z.int().min(1_000).max(600_000).default(120_000),
});
type Input = z.output<typeof inputSchema>;

const DESCRIPTION = [
  'Have a model write one JSON value that matches a JSON Schema. It knows nothing of this conversation: put everything',
  'that it needs into the prompt. You get { "object": … }, checked against the schema.',
].join(' ');

/** A model makes an object for another, with the budget and in the record of the session. It changes nothing. */
export const generateObjectTool: Tool = {
  description: DESCRIPTION,
  inputSchema,
  effect: 'read',
  execute: async (input: Input, { generateObject, abortSignal }: ToolContext) => {
    const { schema, schema_name: name, max_repair_attempts: maxRepairs, include_raw_text: wantsText } = input;
    if (generateObject === undefined) throw new PerdureError('PERDURE_TOOL_CALL_OVER', { tool: 'generate_object' });
    const time = AbortSignal.timeout(input.timeout_ms);
    try {
      const { object, attempts, text } = await generateObject({
        schema,
        messages: messagesOf(input),
        ...(name === undefined ? {} : { name }),
        maxRepairs,
        signal: AbortSignal.any([abortSignal, time]),
      });
      return { object: object as JsonValue, attempts, ...(wantsText ? { raw_text: text } : {}) };
    } catch (error) {
      if (!time.aborted || abortSignal.aborted) throw error;
      const data = { tool: 'generate_object', ms: input.timeout_ms };
      throw new PerdureError('PERDURE_TOOL_TIMEOUT', data, { cause: error });
    }
  },
} satisfies Tool;

function messagesOf({ system, schema_description: about, prompt }: Input) {
  const instructions = [system, about === undefined ? undefined : `The object: ${about}`];
  return [
    ...instructions.flatMap((content) => (content === undefined ? [] : [{ role: 'system' as const, content }])),
    { role: 'user' as const, content: prompt },
  ];
}
