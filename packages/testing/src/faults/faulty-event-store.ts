import { streamCategory } from '@perdure/events';
import { PerdureError, type AppendResult, type EventStore } from '@perdure/plugin-api';
import { setTimeout as sleep } from 'node:timers/promises';
import { fitsLabels } from './kill-plan.js';

/**
 * A fault of a store at certain calls of one verb: from the `occurrence`-th call on (counted from 1) that `match` (a
 * fact type of the batch, or all joined by `+`) and `category` (of the stream) fit, `times` calls; 1 when absent.
 *
 * `ambiguous` stores the batch or does not, and does not tell; `unavailable` throws PERDURE_STORE_UNAVAILABLE and does
 * nothing; `wait` holds the call back, in milliseconds or until a promise resolves, before the store is asked or, with
 * `behind`, before its answer is told.
 */
export type StoreFault = {
  readonly match?: string;
  readonly category?: string;
  readonly occurrence: number;
  readonly times?: number;
} & (
  | { readonly verb: 'append'; readonly fault: 'ambiguous'; readonly stored: boolean }
  | { readonly verb: StoreVerb; readonly fault: 'unavailable' }
  | {
      readonly verb: StoreVerb;
      readonly fault: 'wait';
      readonly wait: number | (() => Promise<void>);
      readonly behind?: boolean;
    }
);

export type StoreVerb = 'append' | 'read' | 'truncate';

/** The store, with faults at the planned calls. Everything else passes through. */
export function faultyEventStore(store: EventStore, plan: readonly StoreFault[]): EventStore {
  for (const [index, { occurrence, times }] of plan.entries()) {
    checkCount(`plan.${index}.occurrence`, occurrence);
    checkCount(`plan.${index}.times`, times ?? 1);
  }
  const calls = plan.map(() => 0);

  /** The faults of one call; each counts the calls that it fits. */
  function faultsOf(verb: StoreVerb, labels: readonly string[], category: string): readonly StoreFault[] {
    return plan.filter((fault, index) => {
      if (fault.verb !== verb || !fitsLabels(fault, labels, category)) return false;
      const call = (calls[index] ?? 0) + 1;
      calls[index] = call;
      return call >= fault.occurrence && call < fault.occurrence + (fault.times ?? 1);
    });
  }

  async function withFaults<Result>(faults: readonly StoreFault[], ask: () => Promise<Result>): Promise<Result> {
    await waitFor(faults, false);
    if (faults.some((fault) => fault.fault === 'unavailable')) {
      throw new PerdureError('PERDURE_STORE_UNAVAILABLE', { reason: 'a planned fault' });
    }
    const result = await ask();
    await waitFor(faults, true);
    return result;
  }

  return {
    name: store.name,
    capabilities: store.capabilities,
    limits: store.limits,
    append(stream, facts, options) {
      const labels = facts.map((fact) => fact.type);
      const faults = faultsOf('append', labels, streamCategory(stream));
      if (faults.length === 0) return store.append(stream, facts, options);
      const ambiguous = faults.find((fault) => fault.fault === 'ambiguous');
      return withFaults(faults, async (): Promise<AppendResult> => {
        if (ambiguous?.stored === false) return lost();
        const result = await store.append(stream, facts, options);
        return ambiguous !== undefined && result.status === 'stored' ? lost() : result;
      });
    },
    read(stream, options) {
      const faults = faultsOf('read', [], streamCategory(stream));
      return withFaults(faults, () => store.read(stream, options));
    },
    subscribe: (source, options) => store.subscribe(source, options),
    truncate(stream, before) {
      const faults = faultsOf('truncate', [], streamCategory(stream));
      return withFaults(faults, () => store.truncate(stream, before));
    },
    close: () => store.close(),
  };
}

function lost(): AppendResult {
  return { status: 'ambiguous', cause: new Error('The connection was lost: a planned fault.') };
}

async function waitFor(faults: readonly StoreFault[], behind: boolean): Promise<void> {
  for (const fault of faults) {
    if (fault.fault !== 'wait' || (fault.behind ?? false) !== behind) continue;
    await (typeof fault.wait === 'number' ? sleep(fault.wait) : fault.wait());
  }
}

function checkCount(field: string, count: number): void {
  if (Number.isInteger(count) && count >= 1) return;
  throw new PerdureError('PERDURE_CONFIGURATION', { field, reason: 'must be a whole number from 1 on' });
}
