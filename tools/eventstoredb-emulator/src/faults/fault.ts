import { z } from 'zod';

/** What a fault can hit. `append` is both append calls, `read` both directions, `subscribe` streams and `$all`. */
export const OPERATIONS = ['append', 'read', 'subscribe', 'delete', 'tombstone', 'features', 'gossip'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** Whether a write is done before its fault shows: the writer cannot tell. Reads ignore it. */
const committed = z.boolean().default(false);
/** How many events a read or subscription is given before its fault shows. Writes ignore it. */
const afterEvents = z.number().int().nonnegative().default(0);
const ms = z.number().int().positive();

export const faultSchema = z.discriminatedUnion('kind', [
  /** Nobody ever answers. */
  z.strictObject({ kind: z.literal('no-answer'), committed, afterEvents }),
  /** Everything is done at once, and the answer waits. */
  z.strictObject({ kind: z.literal('late-answer'), ms }),
  /** Everything waits before it is done. */
  z.strictObject({ kind: z.literal('slow'), ms }),
  /** The connection of the call is destroyed, with all else that goes over it. */
  z.strictObject({ kind: z.literal('cut'), committed, afterEvents }),
  /** The call ends as if all were well, without an answer. */
  z.strictObject({ kind: z.literal('end'), committed, afterEvents }),
  /** Status UNAVAILABLE. */
  z.strictObject({ kind: z.literal('unavailable'), committed, afterEvents }),
  /** Status CANCELLED, as of a server that stops. */
  z.strictObject({ kind: z.literal('cancelled'), committed, afterEvents }),
  /** The server's own time limit for a write has passed. */
  z.strictObject({ kind: z.literal('timeout'), committed }),
  /** The server is too busy, or not ready yet. */
  z.strictObject({ kind: z.literal('busy') }),
  z.strictObject({ kind: z.literal('access-denied') }),
  /** Another node leads. */
  z.strictObject({ kind: z.literal('not-leader'), host: z.string().min(1), port: z.number().int().positive() }),
]);
export type Fault = z.output<typeof faultSchema>;

/** Which calls a fault hits. */
export const faultRuleSchema = z.strictObject({
  on: z.union([z.enum(OPERATIONS), z.array(z.enum(OPERATIONS)).min(1)]),
  fault: faultSchema,
  /** Only calls for streams that begin so; those for `$all` have the name `$all`. */
  stream: z.string().exactOptional(),
  /** So many fitting calls are left alone first. */
  skip: z.number().int().nonnegative().default(0),
  /** So many calls are hit; without it all of them. */
  times: z.number().int().positive().exactOptional(),
});
export type FaultRule = z.input<typeof faultRuleSchema>;
