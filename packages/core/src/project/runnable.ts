import { keyText, type PayloadOf } from '@perdure/events';
import type { Projection } from './projection.js';

/** Whether a session has work that someone must do, since when, and whose it is. */
export interface RunnableRow {
  readonly session: string;
  readonly tenant: string | null;
  /** Epoch milliseconds; `null` when there is nothing to do. */
  readonly runnableSince: number | null;
  readonly nextDeadline: number | null;
  readonly owner: { readonly node: string; readonly epoch: number } | null;
  readonly openTurns: readonly string[];
  readonly changes: readonly string[];
}

/** Sessions by what there is to do in them: where an orphan is found. */
export const runnable: Projection<RunnableRow> = {
  name: 'runnable',
  version: 1,
  types: [
    'SessionCreated',
    'PromptAccepted',
    'PromptCancelled',
    'RunEnded',
    'ChangeRequested',
    'ChangeApplied',
    'OwnershipTaken',
    'OwnershipReleased',
  ],
  keys: (fact) => [keyText(fact.key)],
  evolve: (row, fact) => {
    const { id: session, tenant = null } = fact.key;
    const none = { runnableSince: null, nextDeadline: null, owner: null, openTurns: [], changes: [] };
    const next = { ...(row ?? { session, tenant, ...none }), ...changeOf(row, fact.type, fact.payload) };
    const isRunnable = next.openTurns.length > 0 || next.changes.length > 0;
    return { ...next, runnableSince: isRunnable ? (next.runnableSince ?? fact.time) : null };
  },
};

function changeOf(row: RunnableRow | undefined, type: string, payload: unknown): Partial<RunnableRow> {
  const { openTurns = [], changes = [] } = row ?? {};
  switch (type) {
    case 'PromptAccepted': {
      const { turnId } = payload as PayloadOf<'PromptAccepted'>;
      return openTurns.includes(turnId) ? {} : { openTurns: [...openTurns, turnId] };
    }
    case 'RunEnded': {
      const { turnId, status } = payload as PayloadOf<'RunEnded'>;
      if (status === 'handed-over' || status === 'superseded') return {};
      return { openTurns: openTurns.filter((open) => open !== turnId) };
    }
    case 'ChangeRequested':
      return { changes: [...changes, (payload as PayloadOf<'ChangeRequested'>).changeId] };
    case 'ChangeApplied':
      return { changes: changes.filter((id) => id !== (payload as PayloadOf<'ChangeApplied'>).changeId) };
    case 'OwnershipTaken': {
      const { node, epoch } = payload as PayloadOf<'OwnershipTaken'>;
      return { owner: { node, epoch } };
    }
    case 'OwnershipReleased':
      return { owner: null };
    default:
      return {};
  }
}
