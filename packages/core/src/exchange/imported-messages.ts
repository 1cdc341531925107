import type { ArtifactReference, SessionSnapshotV1, StoredMessage } from '@perdure/events';
import { errorMessage, PerdureError, type ToolResultPart } from '@perdure/plugin-api';
import { shortened, type LongTexts } from './long-texts.js';

/** The messages of a snapshot as a session takes them in. */
export interface ImportedMessages {
  readonly messages: readonly StoredMessage[];
  /** Places of those that models are not shown. */
  readonly hidden: ReadonlySet<number>;
  readonly summary: string | undefined;
  readonly artifacts: readonly ArtifactReference[];
}

/** What no id of a runtime begins with: imported calls and turns are never mistaken for the session's own. */
const PREFIX = 'imported-';

/**
 * Makes a session's messages of a snapshot's: with ids of their own, every call with a result, and none larger than a
 * fact holds. What is too long is in the artifact store when the promise resolves.
 */
export async function importedMessages(
  { session }: SessionSnapshotV1,
  texts: LongTexts,
  maxBytes: number,
): Promise<ImportedMessages> {
  const unseen = new Set(session.context_hidden ?? []);
  const hidden = new Set<number>();
  const messages: StoredMessage[] = [];
  const answered = new Set(session.messages.flatMap(({ parts }) => parts.flatMap(resultId)));
  for (const [index, message] of session.messages.entries()) {
    const whole = await shortened(renamed(message), texts, maxBytes);
    if (whole === undefined) {
      const reason = `it has more than the ${maxBytes} bytes that are kept as one`;
      throw new PerdureError('PERDURE_SNAPSHOT_INVALID', { field: `session.messages.${index}`, reason });
    }
    for (const each of [whole, ...missingResults(message, answered)]) {
      if (unseen.has(message.sequence)) hidden.add(messages.length);
      messages.push(each);
    }
  }
  const summary = session.context_summary ?? undefined;
  const kept = summary === undefined ? undefined : await texts.cut(summary, Math.floor(maxBytes / 8));
  return { messages, hidden, summary: kept, artifacts: texts.artifacts };
}

function resultId(part: StoredMessage['parts'][number]): readonly string[] {
  return part.type === 'tool-result' ? [part.callId] : [];
}

function renamed(message: StoredMessage): StoredMessage {
  const about = { id: PREFIX + message.id, turnId: PREFIX + message.turnId };
  switch (message.role) {
    case 'user':
      return { ...message, ...about };
    case 'assistant': {
      const parts = message.parts.map((part) =>
        part.type === 'tool-call' ? { ...part, callId: PREFIX + part.callId } : part,
      );
      return { ...message, ...about, parts };
    }
    case 'tool':
      return { ...message, ...about, parts: message.parts.map((part) => ({ ...part, callId: PREFIX + part.callId })) };
  }
}

/** Nobody will settle a call of a session that is elsewhere. Providers refuse a call without a result. */
function missingResults(message: StoredMessage, answered: ReadonlySet<string>): readonly StoredMessage[] {
  if (message.role !== 'assistant' || message.status !== 'complete') return [];
  const parts = message.parts.flatMap((part): ToolResultPart[] => {
    if (part.type !== 'tool-call' || answered.has(part.callId)) return [];
    const code = 'PERDURE_TOOL_UNKNOWN_OUTCOME';
    const failure = { code, message: errorMessage(code, { tool: part.name }) };
    return [{ type: 'tool-result', callId: PREFIX + part.callId, name: part.name, status: 'unknown', failure }];
  });
  if (parts.length === 0) return [];
  const { sequence, revision, createdAt } = message;
  const id = `${PREFIX}${message.id}.results`;
  return [{ id, sequence, revision, turnId: PREFIX + message.turnId, createdAt, role: 'tool', parts }];
}
