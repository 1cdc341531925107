import { reasonOf, type Hook, type HookEvent, type HookOccurrence } from '@perdure/plugin-api';
import type { InvocationContext } from '../invoke/invocation-context.js';
import type { Occurrence } from './fact-hooks.js';
import { matches } from './hook-matcher.js';
import { tellHooks } from './run-hooks.js';

/** Where the hooks of a point are found. */
export interface HookSource {
  hooksAt(event: HookEvent): readonly Hook[];
}

type Telling = Pick<InvocationContext, 'sessionId' | 'signal' | 'subject' | 'logger'>;

/** Tells the hooks of an observing point. Nobody has to wait for it; it costs nothing where there are no hooks. */
export async function tell(occurrence: Occurrence, source: HookSource, context: Telling): Promise<void> {
  const { event, payload, target } = occurrence;
  const { sessionId, signal, subject, logger } = context;
  const hooks = source.hooksAt(event).filter((hook) => matches(hook, { sessionId, ...target }));
  if (hooks.length === 0) return;
  const told = { event_type: event, payload: { ...subject(), ...payload() } } as HookOccurrence;
  await tellHooks(hooks, told, signal, (hook, error) => {
    logger.log('warn', 'A hook failed.', { hook: hook.id, event, reason: reasonOf(error) });
  });
}
