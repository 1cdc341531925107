import { MODELS, PerdureError, type AgentOptions } from '@perdure/plugin-api';
import type { PerdureRuntime } from '@perdure/runtime';

/**
 * Throws PERDURE_MODEL_MISSING or PERDURE_MODEL_UNKNOWN when a turn could not ask a model, before any of it is kept.
 *
 * @param ofSession the name of the session's own model
 */
export function requireModel(runtime: PerdureRuntime, options: AgentOptions, ofSession: string | null): void {
  const { id: agent, model, models = {} } = options;
  const names = new Set(Object.keys(models));
  for (const source of runtime.services.container.get(MODELS)) {
    for (const name of Object.keys(source.models)) names.add(name);
  }
  if (ofSession === null && typeof model === 'object') return;
  const wanted = ofSession ?? (typeof model === 'string' ? model : undefined);
  if (wanted === undefined) {
    if (names.size !== 1) throw new PerdureError('PERDURE_MODEL_MISSING', { agent });
    return;
  }
  const isUnnamed = wanted === 'default' && typeof model === 'object';
  if (!names.has(wanted) && !isUnnamed) throw new PerdureError('PERDURE_MODEL_UNKNOWN', { agent, model: wanted });
}
