import { randomUUID } from 'node:crypto';
import { leaseStream, nodeStream, type RecordedFact } from '@perdure/events';
import { PerdureError, type EventStore, type ExpectedRevision } from '@perdure/plugin-api';
import { z } from 'zod';
import { readLifeSign } from '../session/life-sign.js';
import type { CheckedDrain } from './drain-node.js';

const payload = z.object({ incarnation: z.string(), graceMs: z.int().nonnegative(), reason: z.string() });
type DrainRequest = z.output<typeof payload>;

/** How often an operator's request is tried again because another one came between. */
const TRIES = 20;

/**
 * Asks a node, wherever it runs, to drain. It concerns the process that runs under the name at the moment, and no later
 * one. Throws PERDURE_NODE_NOT_FOUND when no lease of that name is held.
 */
export async function requestDrain(store: EventStore, node: string, drain: CheckedDrain): Promise<void> {
  const [last] = (await store.read(leaseStream(node), { direction: 'backwards', limit: 1 })).facts;
  const sign = last === undefined ? undefined : readLifeSign(last);
  if (sign === undefined || sign.isReleased) throw new PerdureError('PERDURE_NODE_NOT_FOUND', { node });
  const stream = nodeStream(node);
  const request: DrainRequest = { incarnation: sign.incarnation, ...drain };
  const fact = { id: randomUUID(), type: 'NodeDrainRequested', payload: JSON.stringify(request), metadata: '{}' };
  let expected: ExpectedRevision = (await store.read(stream, { direction: 'backwards', limit: 1 })).head;
  for (let tries = 0; tries < TRIES; tries++) {
    const outcome = await store.append(stream, [fact], { expected });
    if (outcome.status === 'stored') return;
    if (outcome.status === 'conflict') expected = outcome.actual;
    if (outcome.status === 'too-large')
      throw new PerdureError('PERDURE_INPUT_INVALID', { field: 'reason', reason: 'it is too long' });
  }
  throw new PerdureError('PERDURE_STORE_CONTENDED', { stream, tries: TRIES });
}

/** What of a fact of a node's stream concerns the process; `undefined` for another one's. */
export function drainAsked({ type, payload: text }: RecordedFact, incarnation: string): CheckedDrain | undefined {
  if (type !== 'NodeDrainRequested') return undefined;
  const parsed = payload.safeParse(JSON.parse(text));
  if (!parsed.success || parsed.data.incarnation !== incarnation) return undefined;
  const { graceMs, reason } = parsed.data;
  return { graceMs, reason };
}
