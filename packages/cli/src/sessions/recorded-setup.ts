import { sessionStream, type JsonValue, type PayloadOf, type SessionKey, type StepSetup } from '@perdure/events';
import { PerdureError, type LanguageModel, type PermissionPolicy } from '@perdure/plugin-api';
import { createPermissionPolicy, policyPermission, type PerdureRuntime } from '@perdure/runtime';

/** What the steps of a session were made with, each setup once, in their order. */
export async function recordedSetups(
  { services: { store, facts } }: PerdureRuntime,
  key: SessionKey,
): Promise<readonly StepSetup[]> {
  const setups: StepSetup[] = [];
  let from: number | undefined = 0;
  while (from !== undefined) {
    const page: Awaited<ReturnType<typeof store.read>> = await store.read(sessionStream(key), { from });
    for (const fact of page.facts) {
      if (fact.type !== 'StepStarted') continue;
      const read = facts.read(fact);
      if (read.kind !== 'known') continue;
      const { setup } = read.payload as PayloadOf<'StepStarted'>;
      if (setup !== undefined) setups.push(setup);
    }
    from = page.next;
  }
  return setups;
}

/**
 * The models of the setups, by their names, as models that can be looked at and not asked. Replay compares what a model
 * is and never calls it, so that an auditor needs neither the endpoint nor its key.
 */
export function recordedModels(setups: readonly StepSetup[]): Readonly<Record<string, LanguageModel>> {
  const models = new Map(setups.map(({ model }) => [model.name, recordedModel(model.provider, model.modelId)]));
  return Object.fromEntries(models);
}

/** The permission rules of the setups as policies. Throws PERDURE_INPUT_INVALID for rules of another kind of policy. */
export function recordedPolicies(setups: readonly StepSetup[]): readonly PermissionPolicy[] {
  const distinct = new Map<string, JsonValue>();
  for (const { rules } of setups) if (rules !== undefined) distinct.set(JSON.stringify(rules), rules);
  return Array.from(distinct.values(), (rules) => {
    const parsed = policyPermission.config.safeParse(rules);
    if (parsed.success) return createPermissionPolicy(parsed.data);
    const reason = 'the recorded rules are not those of policy-permission';
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: '--recorded-rules', reason });
  });
}

function recordedModel(provider: string, modelId: string): LanguageModel {
  const refuse = (): Promise<never> => Promise.reject(new PerdureError('PERDURE_MODEL_MISSING', { agent: 'replay' }));
  return { specificationVersion: 'v3', provider, modelId, doGenerate: refuse, doStream: refuse };
}
