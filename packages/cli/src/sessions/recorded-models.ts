import { sessionStream, type PayloadOf, type SessionKey } from '@perdure/events';
import { PerdureError, type LanguageModel } from '@perdure/plugin-api';
import type { PerdureRuntime } from '@perdure/runtime';

/**
 * The models that the steps of a session saw, by their names, as models that can be looked at and not asked. Replay
 * compares what a model is and never calls it, so that an auditor needs neither the endpoint nor its key.
 */
export async function recordedModels(
  { services: { store, facts } }: PerdureRuntime,
  key: SessionKey,
): Promise<ReadonlyMap<string, LanguageModel>> {
  const models = new Map<string, LanguageModel>();
  let from: number | undefined = 0;
  while (from !== undefined) {
    const page: Awaited<ReturnType<typeof store.read>> = await store.read(sessionStream(key), { from });
    for (const fact of page.facts) {
      if (fact.type !== 'StepStarted') continue;
      const read = facts.read(fact);
      if (read.kind !== 'known') continue;
      const { setup } = read.payload as PayloadOf<'StepStarted'>;
      if (setup === undefined || models.has(setup.model.name)) continue;
      models.set(setup.model.name, recordedModel(setup.model.provider, setup.model.modelId));
    }
    from = page.next;
  }
  return models;
}

function recordedModel(provider: string, modelId: string): LanguageModel {
  const refuse = (): Promise<never> => Promise.reject(new PerdureError('PERDURE_MODEL_MISSING', { agent: 'replay' }));
  return { specificationVersion: 'v3', provider, modelId, doGenerate: refuse, doStream: refuse };
}
