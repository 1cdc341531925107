import { hash } from 'node:crypto';
import { coreDefinition, sealMetadata, type Actor, type Labels, type RecordedFact } from '@perdure/events';
import type { NewFact } from '@perdure/plugin-api';
import { sha256 } from '../host/sha256.js';
import type { DraftedFact, FactScope } from './fact-batch.js';

/** What all facts of a batch have in common. */
export interface BatchFrame {
  readonly sessionId: string;
  readonly labels: Labels;
  readonly epoch: number;
  readonly prevHash: string;
}

/** Facts as they are stored, each chained to the one before it, and the hash of the last. */
export function encodeBatch(
  facts: readonly DraftedFact[],
  frame: BatchFrame,
): { readonly facts: readonly NewFact[]; readonly hash: string } {
  const shared = sharedHead(frame);
  let scope: FactScope | undefined;
  let scoped = '';
  let prevHash = frame.prevHash;
  const encoded = facts.map((fact) => {
    const { type } = fact;
    const definition = coreDefinition(type);
    if (!isSameScope(fact.scope, scope)) {
      scope = fact.scope;
      const { turnId, runId, stepId } = scope;
      scoped = `${shared}${member('turnId', turnId)}${member('runId', runId)}${member('stepId', stepId)}`;
    }
    const rest = `,"time":${fact.time},"lane":"${definition.lane}"${actorMember(fact.actor)}`;
    const head = `${scoped}${rest},"schemaVersion":${definition.version}`;
    const id = eventId(fact.id);
    const payload = JSON.stringify(fact.payload);
    const sealed = sealMetadata({ id, type, payload, head }, prevHash, sha256);
    prevHash = sealed.hash;
    const stored = { id, type, payload, metadata: sealed.metadata };
    return definition.isDetail?.(fact.payload) === true ? { ...stored, detail: true } : stored;
  });
  return { facts: encoded, hash: prevHash };
}

/**
 * Members that facts of a batch share come first and members that differ last, so that a store can keep the common part
 * once. `schemaVersion` is last before the hashes, where a reader finds it without parsing.
 */
function sharedHead({ sessionId, labels, epoch }: BatchFrame): string {
  const { tenantId, principal, agentTemplateId, correlationId } = labels;
  const named = `${member('tenantId', tenantId)}${member('principal', principal)}`;
  const others = `${member('agentTemplateId', agentTemplateId)}${member('correlationId', correlationId)}`;
  return `{"sessionId":${JSON.stringify(sessionId)}${named}${others},"epoch":${epoch}`;
}

function isSameScope(a: FactScope, b: FactScope | undefined): boolean {
  return b !== undefined && a.turnId === b.turnId && a.runId === b.runId && a.stepId === b.stepId;
}

function member(name: string, value: string | undefined): string {
  return value === undefined ? '' : `,"${name}":${JSON.stringify(value)}`;
}

function actorMember({ kind, id }: Actor): string {
  return id === undefined ? `,"actor":{"kind":"${kind}"}` : `,"actor":{"kind":"${kind}","id":${JSON.stringify(id)}}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** Namespace of event ids, a UUID made once for this purpose. */
const NAMESPACE = Buffer.from('6f1d3c1e0b5a4a6d9f0e2d7a51c8b943', 'hex');

/** Stores want UUIDs: an id of the host that is none gives the UUID v5 of it. */
export function eventId(hostId: string): string {
  if (UUID.test(hostId)) return hostId;
  const digest = hash('sha1', Buffer.concat([NAMESPACE, Buffer.from(hostId)]), 'hex');
  const variant = ((Number.parseInt(digest.slice(16, 18), 16) & 0x3f) | 0x80).toString(16).padStart(2, '0');
  return [
    digest.slice(0, 8),
    digest.slice(8, 12),
    `5${digest.slice(13, 16)}`,
    `${variant}${digest.slice(18, 20)}`,
    digest.slice(20, 32),
  ].join('-');
}

const TIME_MEMBER = '"time":';

/**
 * The time of a stored fact, without parsing its whole metadata. A quote inside a text is escaped, so no label can be
 * mistaken.
 */
export function timeOf(fact: Pick<RecordedFact, 'metadata'>): number {
  const at = fact.metadata.lastIndexOf(TIME_MEMBER);
  return at < 0 ? 0 : Number.parseInt(fact.metadata.slice(at + TIME_MEMBER.length, at + 30), 10);
}
