import { z } from 'zod';
import { jsonValue } from './json.js';
import { answerPart, artifactReference, filePart, userPart } from './parts.js';
import { failure } from './run.js';
import { settlementStatus, trustLabel } from './tool.js';

/** What a call came to, in a message. */
export const toolResultPart = z.strictObject({
  type: z.literal('tool-result'),
  callId: z.string().min(1),
  name: z.string(),
  status: settlementStatus,
  output: jsonValue.exactOptional(),
  artifact: artifactReference.exactOptional(),
  files: z.array(filePart).readonly().exactOptional(),
  failure: failure.exactOptional(),
  trust: trustLabel.exactOptional(),
});

const base = {
  id: z.string().min(1),
  sequence: z.int().positive(),
  revision: z.int().positive(),
  turnId: z.string(),
  createdAt: z.int(),
};

/** A message as it leaves a session and comes into one: the shape that `messages()` gives. */
export const message = z.discriminatedUnion('role', [
  z.strictObject({
    ...base,
    role: z.literal('user'),
    mode: z.enum(['turn', 'queue', 'steer']),
    parts: z.array(userPart).readonly(),
  }),
  z.strictObject({
    ...base,
    role: z.literal('assistant'),
    status: z.enum(['complete', 'interrupted']),
    parts: z.array(answerPart).readonly(),
  }),
  z.strictObject({ ...base, role: z.literal('tool'), parts: z.array(toolResultPart).readonly() }),
]);
export type StoredMessage = z.output<typeof message>;
