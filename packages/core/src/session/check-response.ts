import {
  PerdureError,
  type ApprovalResponse,
  type DeclineResponse,
  type InteractionResponse,
  type QuestionResponse,
} from '@perdure/plugin-api';
import { z } from 'zod';
import { isObject } from './session-input.js';

const text = z.string().min(1).max(1_000);
const about = { id: text, by: text, argumentDigest: text.exactOptional() };

const approval = z.strictObject({
  ...about,
  decision: z.enum(['allow', 'deny']),
  reason: z.string().max(4_000).exactOptional(),
}) satisfies z.ZodType<ApprovalResponse>;

/** Whether the answers fit the questions is seen when these are known. */
const questions = z.strictObject({
  ...about,
  answers: z.record(
    z.string(),
    z.union([z.string(), z.array(z.string())], { error: 'it is a text or a list of texts' }),
  ),
}) satisfies z.ZodType<QuestionResponse>;

const declined = z.strictObject({ ...about, decline: z.literal(true) }) satisfies z.ZodType<DeclineResponse>;

/** What someone answers. Throws PERDURE_INPUT_INVALID naming the field. */
export function checkResponse(given: unknown): InteractionResponse {
  const parsed = schemaFor(given).safeParse(given);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [];
  const field = ['response', ...(issue?.path ?? []), ...unknown].join('.');
  throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason: issue?.message ?? 'not valid' });
}

function schemaFor(given: unknown): z.ZodType<InteractionResponse> {
  if (!isObject(given)) return approval;
  if ('answers' in given) return questions;
  return 'decline' in given ? declined : approval;
}
