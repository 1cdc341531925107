import { sessionStream, type FactRegistry, type PayloadOf, type SessionKey } from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import { readChain } from './chain-reader.js';

export type AnswerType = 'ApprovalResolved' | 'QuestionAnswered';
export type EarlierAnswer = PayloadOf<AnswerType>;

/**
 * The answer that counted, of a call that is over, in a session or in one of those that it ever handed work to. Only
 * for whoever comes too late: it reads whole streams, one after the other.
 */
export async function earlierAnswer(
  { store, registry }: { readonly store: EventStore; readonly registry: FactRegistry },
  root: SessionKey,
  callId: string,
  type: AnswerType,
): Promise<EarlierAnswer | undefined> {
  const keys = [root];
  for (const key of keys) {
    for await (const page of readChain(store, sessionStream(key), { from: 0 })) {
      for (const fact of page) {
        if (fact.type === 'ChildStarted') {
          const { childId } = registry.read(fact).payload as PayloadOf<'ChildStarted'>;
          keys.push({ ...key, id: childId });
        } else if (fact.type === type) {
          const payload = registry.read(fact).payload as EarlierAnswer;
          if (payload.callId === callId) return payload;
        }
      }
    }
  }
  return undefined;
}
