import type { Labels } from '@perdure/events';
import type { FactBatch } from './fact-batch.js';
import type { Journal } from './journal.js';
import type { SessionState } from './session-state.js';

/** Opens the stream of a session. `false` when it was there already. */
export function openStream(journal: Journal, create: (batch: FactBatch) => void): Promise<boolean> {
  return journal.commit((batch) => {
    if (batch.state.identity !== undefined) return false;
    create(batch);
    return true;
  }, 'input');
}

/** Gives a session the labels that a caller names; others stay. */
export async function relabel(journal: Journal, labels: Labels): Promise<void> {
  const isSame = (state: SessionState): boolean =>
    Object.entries(labels).every(([name, value]) => state.labels[name as keyof Labels] === value);
  if (isSame(journal.state)) return;
  await journal.commit((batch) => {
    if (isSame(batch.state)) return;
    batch.add('SessionRelabeled', { labels: { ...batch.state.labels, ...labels } }, {}, { kind: 'host' });
  }, 'input');
}
