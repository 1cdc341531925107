import { z } from 'zod';
import { defineEvent } from './define-event.js';
import { labels } from './metadata.js';

/** Opens a session's stream. `parent` and `root` are ids of the same tenant; a session without a parent has neither. */
export const sessionCreated = defineEvent({
  type: 'SessionCreated',
  version: 1,
  lane: 'first',
  schema: z.strictObject({
    agentId: z.string(),
    workspace: z.string().exactOptional(),
    model: z.string().exactOptional(),
    parent: z.string().exactOptional(),
    root: z.string().exactOptional(),
    labels,
  }),
  wire: {
    type: 'session_created',
    payload: (fact) => ({
      agent_id: fact.agentId,
      workspace: fact.workspace,
      model: fact.model,
      parent_session_id: fact.parent,
      root_session_id: fact.root,
      tenant_id: fact.labels.tenantId,
      principal: fact.labels.principal,
      agent_template_id: fact.labels.agentTemplateId,
      correlation_id: fact.labels.correlationId,
    }),
  },
});

/** The host gives the session other labels. `labels` is the whole new set. */
export const sessionRelabeled = defineEvent({
  type: 'SessionRelabeled',
  version: 1,
  lane: 'input',
  schema: z.strictObject({ labels }),
  wire: {
    type: 'session_relabeled',
    payload: (fact) => ({
      tenant_id: fact.labels.tenantId,
      principal: fact.labels.principal,
      agent_template_id: fact.labels.agentTemplateId,
      correlation_id: fact.labels.correlationId,
    }),
  },
});
