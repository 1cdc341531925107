import { streamCategory } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import type { KillPlan } from './kill-plan.js';

/**
 * The store, with the points `append:before`, `append:after` (stored, and not yet told), `truncate:before` and
 * `truncate:after`. Those of `append` carry the fact types of the batch, all the category of the stream.
 */
export function killingEventStore(store: EventStore, plan: KillPlan): EventStore {
  return {
    name: store.name,
    capabilities: store.capabilities,
    limits: store.limits,
    async append(stream, facts, options) {
      const passing = { labels: facts.map((fact) => fact.type), category: streamCategory(stream) };
      plan.pass({ point: 'append:before', ...passing });
      const result = await store.append(stream, facts, options);
      if (result.status === 'stored') plan.pass({ point: 'append:after', ...passing });
      return result;
    },
    read: (stream, options) => store.read(stream, options),
    subscribe: (source, options) => store.subscribe(source, options),
    async truncate(stream, before) {
      const passing = { labels: [], category: streamCategory(stream) };
      plan.pass({ point: 'truncate:before', ...passing });
      await store.truncate(stream, before);
      plan.pass({ point: 'truncate:after', ...passing });
    },
    close: () => store.close(),
  };
}
