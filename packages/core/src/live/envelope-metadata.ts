import type { FactMetadata, JsonValue } from '@perdure/events';

/** The metadata of a stored fact as envelopes carry it. */
export function metadataOnWire(metadata: string): Record<string, JsonValue> {
  const fact = JSON.parse(metadata) as Partial<FactMetadata>;
  const members = {
    session_id: fact.sessionId,
    turn_id: fact.turnId,
    run_id: fact.runId,
    step_id: fact.stepId,
    tenant_id: fact.tenantId,
    principal: fact.principal,
    agent_template_id: fact.agentTemplateId,
    correlation_id: fact.correlationId,
    timestamp_ms: fact.time,
  };
  const present: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(members)) if (value !== undefined) present[key] = value;
  return present;
}
