import {
  readSnapshot,
  sessionStream,
  type ArtifactReference,
  type PayloadOf,
  type SessionKey,
  type SessionSnapshotV1,
  type StoredMessage,
} from '@perdure/events';
import { PerdureError, type Session, type SessionOptions } from '@perdure/plugin-api';
import { invalidSnapshot } from '@perdure/plugin-api/store-input';
import { sessionConfiguration, type SessionConfig } from '../host/session-options.js';
import type { HostServices } from '../host/host-services.js';
import { digestOf } from '../host/sha256.js';
import type { SessionRegistry } from '../host/session-registry.js';
import { refuseServers } from '../host/session-servers.js';
import { canonicalJson } from '../session/canonical-json.js';
import type { FactBatch } from '../session/fact-batch.js';
import type { Journal } from '../session/journal.js';
import { erasedError } from '../session/refuse-erased.js';
import { hasEnded } from '../session/session-loader.js';
import { checkOptions } from '../session/session-input.js';
import { isImporting } from '../session/session-state.js';
import { importedMessages, type ImportedMessages } from './imported-messages.js';
import { bytesOf, LongTexts } from './long-texts.js';

/** Bytes of messages that one fact holds, and that one append carries: any store takes both. */
const FACT_BYTES = 128 * 1_024;
const BATCH_BYTES = 1_024 * 1_024;

/** The agent that a session is made for. */
export interface ImportGround {
  readonly services: HostServices;
  readonly agentId: string;
  readonly registry: SessionRegistry;
  readonly hasModel: (name: string) => boolean;
  /** Checks the options of a session under an id, and completes them. */
  readonly resolve: (options: SessionOptions, sessionId: string) => SessionConfig;
}

/**
 * Makes a session out of a snapshot. The same snapshot again is the same session; an import that broke off goes on.
 * Throws PERDURE_INPUT_INVALID for options that are none, PERDURE_SNAPSHOT_INVALID naming the field,
 * PERDURE_SESSION_EXISTS where the id is another session's, and PERDURE_SESSION_ERASED where it was one's that is gone.
 */
export async function importSession(ground: ImportGround, value: unknown, given?: SessionOptions): Promise<Session> {
  const { services, agentId, registry } = ground;
  const options = checkOptions(given);
  const read = readSnapshot(value);
  if (!read.ok) throw invalidSnapshot(read.fault);
  const { snapshot } = read;
  if (options.parent !== undefined) throw sessionConfiguration('parent', 'an imported session has none');
  refuseServers(options);
  const digest = digestOf(canonicalJson(snapshot));
  const named = { ...persisted(snapshot, ground), ...options };
  const config = await place(ground, named, options.sessionId, snapshot.session.id, digest);
  const { key } = config;
  const texts = new LongTexts(services.artifacts, key.tenant);
  const maxBytes = Math.min(FACT_BYTES, Math.floor(services.store.limits.maxEventBytes / 2));
  const taken = await importedMessages(services.redaction.redactFact(snapshot), texts, maxBytes);
  const { workspace, model, labels } = config;
  const created = {
    agentId,
    labels: { ...labels },
    ...(workspace === undefined ? {} : { workspace }),
    ...(model === undefined ? {} : { model }),
    imported: { digest, messages: taken.messages.length, ...origin(snapshot) },
  };
  const { handle, home } = registry.handle(config);
  try {
    await home.use(({ work: { journal } }) => append(journal, created, taken, maxBytes));
  } catch (error) {
    await home.close('closed');
    throw error;
  }
  return handle;
}

/** What the session said of itself, where the caller says nothing else. Where it worked is not among that. */
function persisted({ session }: SessionSnapshotV1, { hasModel }: ImportGround): SessionOptions {
  const { model_name: model, tenant_id: tenantId, principal } = session;
  const { agent_template_id: agentTemplateId, correlation_id: correlationId } = session;
  return {
    ...(model === null || !hasModel(model) ? {} : { model }),
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(principal === undefined ? {} : { principal }),
    ...(agentTemplateId === undefined ? {} : { agentTemplateId }),
    ...(correlationId === undefined ? {} : { correlationId }),
  };
}

function origin({ session: { id: sessionId, revision, hash } }: SessionSnapshotV1) {
  return { sessionId, ...(revision === undefined ? {} : { revision }), ...(hash === undefined ? {} : { hash }) };
}

/** The id that was asked for; else that of the snapshot, or one that is made of both when it is another session's. */
async function place(
  { services, resolve }: ImportGround,
  options: SessionOptions,
  asked: string | undefined,
  original: string,
  digest: string,
): Promise<SessionConfig> {
  const first = resolve(options, asked ?? original);
  if (await isFree(services, first.key, digest)) return first;
  if (asked !== undefined && (await hasEnded(services.store, sessionStream(first.key)))) throw erasedError(asked);
  const other = resolve(options, `${original.slice(0, 180)}-${digest.slice(7, 19)}`);
  if (asked === undefined && (await isFree(services, other.key, digest))) return other;
  throw exists(asked === undefined ? other.key : first.key);
}

/** Whether there is no such session, or it is the one of this snapshot. */
async function isFree({ store, facts }: HostServices, key: SessionKey, digest: string): Promise<boolean> {
  const [first] = (await store.read(sessionStream(key), { limit: 1 })).facts;
  if (first === undefined) return true;
  const { kind, type, payload } = facts.read(first);
  const isCreated = kind === 'known' && type === 'SessionCreated';
  return isCreated && (payload as PayloadOf<'SessionCreated'>).imported?.digest === digest;
}

async function append(
  journal: Journal,
  created: PayloadOf<'SessionCreated'>,
  taken: ImportedMessages,
  maxBytes: number,
): Promise<void> {
  await journal.refresh();
  const digest = created.imported?.digest;
  for (let isWhole = false; !isWhole;) {
    isWhole = await journal.commit((batch) => {
      const { identity } = batch.state;
      if (identity === undefined) batch.add('SessionCreated', created, {}, { kind: 'host' });
      else if (identity.imported?.digest !== digest) throw exists(journal.key);
      return addMessages(batch, taken, maxBytes);
    }, 'input');
  }
}

/** Adds as many messages as an append carries. Whether none is left. */
function addMessages(batch: FactBatch, taken: ImportedMessages, maxBytes: number): boolean {
  for (let bytes = 0; isImporting(batch.state);) {
    if (batch.facts.length > 0 && (batch.isFull || bytes + maxBytes > BATCH_BYTES)) return false;
    const from = batch.state.messages.length;
    const messages = nextMessages(taken.messages, from, maxBytes);
    for (const message of messages) bytes += bytesOf(message);
    const hidden = messages.flatMap((_, index) => (taken.hidden.has(from + index) ? [from + index] : []));
    const isFirst = from === 0;
    const { summary, artifacts } = taken;
    const payload = {
      from,
      messages: [...messages],
      ...(hidden.length === 0 ? {} : { hidden }),
      ...(isFirst && summary !== undefined ? { summary } : {}),
      ...(isFirst && artifacts.length > 0 ? { artifacts: named(artifacts) } : {}),
    };
    batch.add('MessagesImported', payload, {}, { kind: 'host' });
  }
  return true;
}

/** So many references are told in the fact; each is in its message too. */
const NAMED_ARTIFACTS = 500;

function named(artifacts: readonly ArtifactReference[]): ArtifactReference[] {
  return artifacts.slice(0, NAMED_ARTIFACTS);
}

function nextMessages(messages: readonly StoredMessage[], from: number, maxBytes: number): readonly StoredMessage[] {
  let to = from;
  let bytes = 0;
  while (to < messages.length) {
    bytes += bytesOf(messages[to] as StoredMessage);
    if (to > from && bytes > maxBytes) break;
    to++;
  }
  return messages.slice(from, to);
}

function exists({ id }: SessionKey): PerdureError {
  return new PerdureError('PERDURE_SESSION_EXISTS', { session: id });
}
