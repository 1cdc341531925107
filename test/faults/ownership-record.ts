import type { PayloadOf } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';

/** A fact of a session as these tests look at it. */
export interface StoredFact {
  readonly type: string;
  readonly revision: number;
  readonly payload: Readonly<Record<string, unknown>>;
  readonly metadata: { readonly epoch: number; readonly time: number; readonly lane: string };
}

export async function factsOf(store: EventStore, id: string): Promise<readonly StoredFact[]> {
  const { facts } = await store.read(`session-_.${id}`);
  return facts.map(({ type, payload, metadata, revision }) => ({
    type,
    revision,
    payload: JSON.parse(payload) as StoredFact['payload'],
    metadata: JSON.parse(metadata) as StoredFact['metadata'],
  }));
}

/** One ownership of a session, as its stream tells it. */
export interface Reign {
  readonly epoch: number;
  readonly node: string;
  readonly incarnation: string;
  readonly reason: string;
  /** Epoch milliseconds. */
  readonly from: number;
}

/** The ownerships in a stream, in order. An owner whose lease ran out says by the same epoch that it goes on. */
export function reignsIn(facts: readonly StoredFact[]): readonly Reign[] {
  const reigns: Reign[] = [];
  for (const { type, payload, metadata } of facts) {
    if (type !== 'OwnershipTaken') continue;
    const { epoch, node, incarnation, reason } = payload as PayloadOf<'OwnershipTaken'>;
    const last = reigns.at(-1);
    if (last?.epoch === epoch && last.incarnation === incarnation) continue;
    reigns.push({ epoch, node, incarnation, reason, from: metadata.time });
  }
  return reigns;
}

/** What there is against one owner after the other in a stream; empty where it holds. */
export function flawsIn(facts: readonly StoredFact[]): readonly string[] {
  const flaws: string[] = [];
  let epoch = 0;
  let owner: string | undefined;
  for (const { type, revision, payload, metadata } of facts) {
    if (type === 'OwnershipTaken') {
      const taken = payload as PayloadOf<'OwnershipTaken'>;
      const goesOn = taken.epoch === epoch && taken.incarnation === owner;
      if (!goesOn && taken.epoch !== epoch + 1) flaws.push(`${revision}: epoch ${taken.epoch} behind ${epoch}`);
      ({ epoch, incarnation: owner } = taken);
    } else if (metadata.lane === 'owner') {
      if (owner === undefined) flaws.push(`${revision}: ${type} without an owner`);
      if (metadata.epoch !== epoch) flaws.push(`${revision}: ${type} of epoch ${metadata.epoch} in ${epoch}`);
      if (type === 'OwnershipReleased') owner = undefined;
    }
  }
  return flaws;
}

/** Who had the session at a time, in epoch milliseconds; `undefined` when it had been given back. */
export function ownerAt(facts: readonly StoredFact[], time: number): string | undefined {
  const before = facts.filter(({ metadata }) => metadata.time <= time);
  const last = before.findLast(({ type }) => type === 'OwnershipTaken' || type === 'OwnershipReleased');
  return last?.type === 'OwnershipTaken' ? String(last.payload['node']) : undefined;
}

/** Whether a session that nobody has at a time needs nobody: all that it was asked for before has been answered. */
export function needsNobody(facts: readonly StoredFact[], asked: number, time: number): boolean {
  const prompts = facts.filter(({ type, metadata }) => type === 'PromptAccepted' && metadata.time <= asked);
  const ends = facts.filter(({ type, metadata }) => type === 'RunEnded' && metadata.time <= time);
  return ends.filter(({ payload }) => payload['status'] === 'completed').length >= prompts.length;
}
