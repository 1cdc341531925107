import { hash, randomUUID } from 'node:crypto';
import { budgetDefinition, sealMetadata, type Actor, type BudgetFact } from '@perdure/events';
import type { NewFact } from '@perdure/plugin-api';

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/** What all facts of a batch have in common. */
export interface BatchFrame {
  readonly root: string;
  readonly actor: Actor;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly prevHash: string;
}

/** Facts as they are stored, each chained to the one before it, and the hash of the last. */
export function encodeFacts(
  facts: readonly BudgetFact[],
  { root, actor, time, prevHash }: BatchFrame,
): { readonly facts: readonly NewFact[]; readonly hash: string } {
  let previous = prevHash;
  const encoded = facts.map(({ type, payload }) => {
    const { lane, version } = budgetDefinition(type);
    // Nodes that make their ids by one rule write to one stream: an id of a budget fact is random.
    const id = randomUUID();
    const text = JSON.stringify(payload);
    const members = { sessionId: root, epoch: 0, time, lane, actor, schemaVersion: version };
    const head = JSON.stringify(members).slice(0, -1);
    const sealed = sealMetadata({ id, type, payload: text, head }, previous, sha256);
    previous = sealed.hash;
    return { id, type, payload: text, metadata: sealed.metadata };
  });
  return { facts: encoded, hash: previous };
}
