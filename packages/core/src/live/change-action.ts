import type { Change, JsonValue } from '@perdure/events';
import type { ActionName } from '@perdure/plugin-api';

/** What user interfaces are told of a change: which action it is, and the names that it is about. */
export function actionOf(change: Change): {
  readonly action: ActionName;
  readonly data?: Readonly<Record<string, JsonValue>>;
} {
  switch (change.kind) {
    case 'model':
      return { action: 'model-switched', data: { model: change.model } };
    case 'approvals':
      return { action: 'approvals-changed', data: { mode: change.mode } };
    case 'title':
      return { action: 'title-set', data: { title: change.title } };
    case 'env': {
      const { scope, set, unset } = change;
      return { action: 'env-updated', data: { scope, set: set.map(({ name }) => name), unset } };
    }
    case 'plugins': {
      const plugins = change.plugins.map(({ name, version }) => ({ name, version }));
      return { action: 'plugins-changed', data: { plugins } };
    }
    case 'system':
      return { action: SYSTEM_ACTIONS[change.action] };
    case 'compact':
      return { action: 'compaction' };
    case 'clear':
      return { action: 'context-cleared' };
  }
}

const SYSTEM_ACTIONS = {
  freeze: 'system-frozen',
  refresh: 'system-refreshed',
  follow: 'system-followed',
} as const;
