import type { PayloadOf } from '@perdure/events';
import type { Message, Mutation } from '@perdure/plugin-api';
import type { AnswerDelta } from '../invoke/answer-builder.js';
import type { CommittedFact, Journal } from '../session/journal.js';
import type { SessionState } from '../session/session-state.js';
import { formatCursor } from './cursor.js';
import { answerMessageId, type AnswerKey } from './live-answer.js';
import type { LiveFeed } from './live-feed.js';

/** Tells a listener of every change from now on. A listener that throws harms nobody else; the function ends it. */
export function subscribeMutations(
  sessionId: string,
  journal: Journal,
  feed: LiveFeed,
  listener: (mutation: Mutation) => void,
  onError: (error: unknown) => void,
): () => void {
  const tell = (mutation: Mutation): void => {
    try {
      listener(mutation);
    } catch (error) {
      onError(error);
    }
  };
  const endFacts = journal.onCommit((facts, state) => {
    for (const fact of facts) {
      const mutation = mutationOf(sessionId, fact, state);
      if (mutation !== undefined) tell(mutation);
    }
  });
  const endDeltas = feed.onDelta((key, delta) => {
    const mutation = deltaMutation(sessionId, journal.head, key, delta);
    if (mutation !== undefined) tell(mutation);
  });
  return () => {
    endFacts();
    endDeltas();
  };
}

function mutationOf(sessionId: string, fact: CommittedFact, state: SessionState): Mutation | undefined {
  const about = { sessionId, cursor: formatCursor(fact.revision) };
  const ofMessage = (id: string): Mutation | undefined => {
    const message = findMessage(state, id);
    return message === undefined ? undefined : { ...about, variant: 'message', message };
  };
  switch (fact.type) {
    case 'PromptAccepted':
    case 'ModelAnswered':
    case 'AnswerInterrupted':
      return ofMessage((fact.payload as { readonly messageId: string }).messageId);
    case 'ToolCallSettled': {
      const { callId } = fact.payload as PayloadOf<'ToolCallSettled'>;
      const message = findMessageOfCall(state, callId);
      return message === undefined ? undefined : { ...about, variant: 'message', message };
    }
    case 'RunStarted': {
      const { turnId } = fact.payload as PayloadOf<'RunStarted'>;
      return { ...about, variant: 'turn', type: 'start', turnId, status: 'running' };
    }
    case 'RunEnded': {
      const { turnId, status } = fact.payload as PayloadOf<'RunEnded'>;
      return { ...about, variant: 'turn', type: 'finish', turnId, status };
    }
    case 'ChangeApplied':
      return { ...about, variant: 'session', type: 'config', model: state.model ?? null };
    case 'SessionTitled':
      return { ...about, variant: 'session', type: 'title', title: (fact.payload as PayloadOf<'SessionTitled'>).title };
    default:
      return undefined;
  }
}

function deltaMutation(sessionId: string, head: number, key: AnswerKey, delta: AnswerDelta): Mutation | undefined {
  const about = {
    sessionId,
    cursor: formatCursor(head),
    variant: 'delta',
    messageId: answerMessageId(key),
    part: delta.part,
  } as const;
  switch (delta.kind) {
    case 'text':
    case 'reasoning':
      return { ...about, type: delta.kind, delta: delta.text };
    case 'tool-progress':
      return { ...about, type: 'tool-input', delta: delta.text };
    default:
      return undefined;
  }
}

/** What changed is near the end. */
function findMessage(state: SessionState, id: string): Message | undefined {
  for (let index = state.messages.length - 1; index >= 0; index--) {
    const message = state.messages.at(index);
    if (message?.id === id) return message;
  }
  return undefined;
}

function findMessageOfCall(state: SessionState, callId: string): Message | undefined {
  for (let index = state.messages.length - 1; index >= 0; index--) {
    const message = state.messages.at(index);
    if (message?.role === 'tool' && message.parts.some((part) => part.callId === callId)) return message;
  }
  return undefined;
}
