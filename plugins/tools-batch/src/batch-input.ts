import type { JsonValue } from '@perdure/events';
import { z } from 'zod';
import { referencesIn } from './reference.js';

const MOST_INVOCATIONS = 32;
const MOST_STEPS = 32;

const invocation = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,64}$/, 'it has 1 to 64 letters, digits, "_" and "-"')
    .optional()
    .describe('A name for the result, for later invocations to refer to; the position when absent.'),
  tool: z.string().min(1).describe('The name of a tool.'),
  args: z
    .record(z.string(), z.json())
    .describe('Its arguments. {"$ref": "<id>.output.<path>"} stands for a part of an earlier result.'),
  step: z
    .int()
    .min(1)
    .max(MOST_STEPS)
    .default(1)
    .describe('Steps run one after the other, the lowest first. A step may refer to results of earlier ones.'),
});

export const batchInput = z
  .strictObject({
    invocations: z.array(invocation).min(1).max(MOST_INVOCATIONS),
    max_concurrency: z.int().min(1).max(16).default(8).describe('Invocations of a step that run at the same time.'),
  })
  .superRefine(({ invocations }, context) => {
    const steps = new Map<string, number>();
    for (const [index, { id = String(index), step }] of invocations.entries()) {
      if (steps.has(id)) refuse(context, index, 'id', `two invocations are called "${id}"`);
      steps.set(id, step);
    }
    for (const [index, { args, step }] of invocations.entries()) {
      for (const { id } of referencesIn(args as JsonValue)) {
        const of = steps.get(id);
        if (of === undefined) refuse(context, index, 'args', `there is no invocation "${id}" to refer to`);
        else if (of >= step) refuse(context, index, 'args', `"${id}" is not in an earlier step`);
      }
    }
  });

export type BatchInput = z.output<typeof batchInput>;
export type Invocation = BatchInput['invocations'][number];

function refuse(context: z.RefinementCtx, index: number, field: string, message: string): void {
  context.addIssue({ code: 'custom', path: ['invocations', index, field], message });
}
