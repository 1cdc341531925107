import { sessionStream, type SessionKey } from '@perdure/events';
import { PerdureError, type Session, type Sessions } from '@perdure/plugin-api';
import type { PerdureRuntime, RuntimeAgent } from '@perdure/runtime';
import { DEFAULT_AGENT } from '../config/agent-options.js';

/** What a session's first fact says of it. */
export interface RecordedSession {
  readonly agentId: string;
  readonly workspace: string | undefined;
}

/** Looks a session up in the store; `undefined` when it has no facts. */
export async function findRecorded(runtime: PerdureRuntime, key: SessionKey): Promise<RecordedSession | undefined> {
  const { store, facts } = runtime.services;
  const [first] = (await store.read(sessionStream(key), { limit: 1 })).facts;
  if (first === undefined) return undefined;
  // A fact of a newer build may say less; what it does say is read all the same.
  const said = facts.read(first).payload as { readonly agentId?: unknown; readonly workspace?: unknown };
  return {
    agentId: typeof said.agentId === 'string' ? said.agentId : DEFAULT_AGENT,
    workspace: typeof said.workspace === 'string' ? said.workspace : undefined,
  };
}

/** The same for a session that must be there. Throws PERDURE_SESSION_NOT_FOUND. */
export async function requireRecorded(runtime: PerdureRuntime, key: SessionKey): Promise<RecordedSession> {
  const found = await findRecorded(runtime, key);
  if (found === undefined) throw new PerdureError('PERDURE_SESSION_NOT_FOUND', { session: key.id });
  return found;
}

/** The agent that a session belongs to, without anything to run it with. Throws PERDURE_SESSION_NOT_FOUND. */
export async function openAgentOf(runtime: PerdureRuntime, key: SessionKey): Promise<RuntimeAgent> {
  const { agentId } = await requireRecorded(runtime, key);
  return runtime.agent({ id: agentId, ...(key.tenant === undefined ? {} : { tenant: key.tenant }) });
}

/** A session to read, whatever agent it belongs to. No model is needed and nothing is written. */
export async function openForReading(runtime: PerdureRuntime, key: SessionKey): Promise<Session> {
  return (await collectionOf(runtime, key)).get(key.id);
}

/** The sessions among which one is, whatever agent it belongs to. */
export async function collectionOf(runtime: PerdureRuntime, key: SessionKey): Promise<Sessions> {
  return (await openAgentOf(runtime, key)).sessions;
}
