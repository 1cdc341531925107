import type { RecordedFact } from '@perdure/events';
import { z } from 'zod';

/** Facts of a node's lease. They are no facts of a session: only the last one counts. */
export type LeaseFactType = 'LeaseRenewed' | 'LeaseReleased';

/** What the last fact of a lease says of its node. */
export interface LifeSign {
  /** The process that ran under the name. */
  readonly incarnation: string;
  /** Milliseconds without a renewal after which the node counts as dead. */
  readonly ttlMs: number;
  /** The process ended in order, and has no session any more. */
  readonly isReleased: boolean;
}

const payload = z.object({ incarnation: z.string(), ttlMs: z.number().positive() });

/** The life sign in a fact; `undefined` when it is none. */
export function readLifeSign({ type, payload: text }: RecordedFact): LifeSign | undefined {
  if (type !== 'LeaseRenewed' && type !== 'LeaseReleased') return undefined;
  const parsed = payload.safeParse(JSON.parse(text));
  return parsed.success ? { ...parsed.data, isReleased: type === 'LeaseReleased' } : undefined;
}
