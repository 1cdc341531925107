import type { Message } from '@perdure/plugin-api';
import { digestOf } from '../host/sha256.js';
import { canonicalJson } from '../session/canonical-json.js';
import type { SessionState } from '../session/session-state.js';

/** Hash of the whole fold: equal for equal streams, however they were read. */
export function stateHash(state: SessionState): string {
  return digestOf(canonicalJson(state));
}

/**
 * Hash of what a session came to: the transcript and the workspace, without ids, times, runs, epochs, attempts and
 * usage. A run that was interrupted and resumed has the hash of one that was not.
 */
export function outcomeHash(state: SessionState, workspaceDigest: string | undefined): string {
  const transcript = Array.from(state.context, (place) => state.messages.at(place)).flatMap((message) =>
    message === undefined ? [] : [outcomeOf(message)],
  );
  return digestOf(canonicalJson({ transcript, workspace: workspaceDigest ?? null }));
}

function outcomeOf(message: Message): unknown {
  switch (message.role) {
    case 'user':
      return { role: 'user', parts: message.parts };
    case 'assistant':
      return {
        role: 'assistant',
        parts: message.parts.map((part) => {
          if (part.type !== 'tool-call') return part;
          const { name, input, invalidInput } = part;
          return { type: part.type, name, arguments: digestOf(canonicalJson(invalidInput ?? input)) };
        }),
      };
    case 'tool':
      return { role: 'tool', parts: message.parts.map(({ callId: _, artifact, ...part }) => ({ ...part, artifact })) };
  }
}
