import { z } from 'zod';
import { defineEvent } from './define-event.js';
import { message } from './message.js';
import { delegation, sessionProfile } from './delegation.js';
import { labels } from './metadata.js';
import { artifactReference } from './parts.js';

/**
 * Opens a session's stream. `parent` and `root` are ids of the same tenant; a session without a parent has neither.
 * `title` is what the host calls it, and `timezone` the IANA name of the zone that whoever made it lives in.
 */
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
    /** What narrows the agent for this session. */
    profile: sessionProfile.exactOptional(),
    /** Of a session that was handed work by a call of its parent. */
    delegation: delegation.exactOptional(),
    title: z.string().exactOptional(),
    timezone: z.string().exactOptional(),
    labels,
    /**
     * The session was made out of a snapshot. `digest` is that of the snapshot as canonical JSON, `sessionId` the id
     * there, and `revision` and `hash` the place in the stream that it was taken of. So many `messages` follow; before
     * the last of them nothing else of the session begins.
     */
    imported: z
      .strictObject({
        digest: z.string(),
        sessionId: z.string(),
        messages: z.int().nonnegative(),
        revision: z.int().nonnegative().exactOptional(),
        hash: z.string().exactOptional(),
      })
      .exactOptional(),
  }),
  wire: {
    type: 'session_created',
    payload: (fact) => ({
      agent_id: fact.agentId,
      workspace: fact.workspace,
      model: fact.model,
      parent_session_id: fact.parent,
      root_session_id: fact.root,
      agent: fact.profile?.agent,
      tool_id: fact.delegation?.callId,
      title: fact.title,
      timezone: fact.timezone,
      tenant_id: fact.labels.tenantId,
      principal: fact.labels.principal,
      agent_template_id: fact.labels.agentTemplateId,
      correlation_id: fact.labels.correlationId,
      imported_digest: fact.imported?.digest,
      imported_session_id: fact.imported?.sessionId,
    }),
  },
});

/**
 * Messages of a snapshot become those of the session: the first has the place `from` among them, counted from 0.
 * `hidden` are places of those that models are not shown, and `summary` stands for them. The bytes of `artifacts` were
 * durable before.
 */
export const messagesImported = defineEvent({
  type: 'MessagesImported',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    from: z.int().nonnegative(),
    messages: z.array(message),
    hidden: z.array(z.int().nonnegative()).exactOptional(),
    summary: z.string().exactOptional(),
    artifacts: z.array(artifactReference).exactOptional(),
  }),
  wire: {
    type: 'messages_imported',
    payload: (fact) => ({ from_message: fact.from + 1, to_message: fact.from + fact.messages.length }),
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

/** Who a title is from. One of the host is never replaced by one of a model. */
export const titleSource = z.enum(['host', 'model']);

/** The session has a title: one that a change of the host asked for, or one that a model made. */
export const sessionTitled = defineEvent({
  type: 'SessionTitled',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({ title: z.string(), by: titleSource, changeId: z.string().exactOptional() }),
  wire: {
    type: 'session_titled',
    payload: (fact) => ({ title: fact.title, by: fact.by, change_id: fact.changeId }),
  },
});

/** The session is put away: it can be read, and takes no input before it is restored. `reason` may be empty. */
export const sessionArchived = defineEvent({
  type: 'SessionArchived',
  version: 1,
  lane: 'input',
  schema: z.strictObject({ reason: z.string() }),
  wire: { type: 'session_archived', payload: (fact) => ({ reason: fact.reason }) },
});

/**
 * A session that took nothing may go on: it was archived, or it was to be erased and sessions that were forked from it
 * stand against that. `archivedAt` is since when it took nothing, in epoch milliseconds.
 */
export const sessionRestored = defineEvent({
  type: 'SessionRestored',
  version: 1,
  lane: 'input',
  schema: z.strictObject({ archivedAt: z.int() }),
  wire: { type: 'session_restored', payload: (fact) => ({ archived_at_ms: fact.archivedAt }) },
});

/**
 * Opens the stream of a session that goes on from another one of the same tenant: what that one was at the revision
 * `from.revision`, a step boundary, comes before this fact. The fact's `prevHash` is the hash there.
 */
export const sessionForked = defineEvent({
  type: 'SessionForked',
  version: 1,
  lane: 'first',
  schema: z.strictObject({
    from: z.strictObject({ session: z.string(), revision: z.int().nonnegative() }),
    agentId: z.string(),
    workspace: z.string().exactOptional(),
    model: z.string().exactOptional(),
    parent: z.string().exactOptional(),
    root: z.string().exactOptional(),
    labels,
  }),
  wire: {
    type: 'session_forked',
    payload: (fact) => ({
      from_session_id: fact.from.session,
      from_revision: fact.from.revision,
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

/** Someone wants everything that the session holds to be gone. Its turns end, and it takes nothing more. */
export const eraseRequested = defineEvent({
  type: 'EraseRequested',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    /** Whether the sessions that were forked from it go with it. */
    cascade: z.boolean(),
    reason: z.string().exactOptional(),
  }),
  wire: { type: 'erase_requested', payload: (fact) => ({ cascade: fact.cascade, reason: fact.reason }) },
});

/** The last fact of a session: the stream is truncated before it. */
export const sessionErased = defineEvent({
  type: 'SessionErased',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({ agentId: z.string(), reason: z.string().exactOptional() }),
  wire: { type: 'session_erased', payload: (fact) => ({ agent_id: fact.agentId, reason: fact.reason }) },
});
