import { createHash, randomUUID } from 'node:crypto';
import { sealMetadata, FIRST_PREV_HASH, sessionStream, type SessionKey } from '@perdure/events';
import type { EventStore, NewFact } from '@perdure/plugin-api';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

export interface SessionToMake {
  readonly key: SessionKey;
  readonly template?: string;
}

/** Sessions as a runtime stores them, without one: chains of facts in a store. */
export class TestSessions {
  private readonly chains = new Map<string, { revision: number; hash: string }>();

  constructor(private readonly store: EventStore) {}

  /** Makes sessions with so many facts each, and appends them in turns. */
  async make(sessions: readonly SessionToMake[], factsEach: number, perAppend = 4): Promise<void> {
    for (let done = 0; done < factsEach; done += perAppend) {
      const count = Math.min(perAppend, factsEach - done);
      await Promise.all(sessions.map((session) => this.append(session, count)));
    }
  }

  /** Appends facts of a conversation to a session, which begins with the first of them. */
  async append({ key, template }: SessionToMake, count: number): Promise<void> {
    const first = (this.chains.get(sessionStream(key))?.revision ?? -1) + 1;
    const facts = Array.from({ length: count }, (_, index) => conversation(first + index, template));
    await this.appendFacts(key, facts, template);
  }

  /** Appends facts of any type. */
  async appendFacts(
    key: SessionKey,
    facts: readonly { readonly type: string; readonly payload: unknown }[],
    template?: string,
  ): Promise<void> {
    const stream = sessionStream(key);
    const chain = this.chains.get(stream) ?? { revision: -1, hash: FIRST_PREV_HASH };
    const expected = chain.revision < 0 ? 'none' : chain.revision;
    const sealed = facts.map(({ type, payload }): NewFact => {
      const id = randomUUID();
      const text = JSON.stringify(payload);
      const label = template === undefined ? '' : `,"agentTemplateId":${JSON.stringify(template)}`;
      const head =
        `{"sessionId":${JSON.stringify(key.id)}${label},"actor":{"kind":"host"},"lane":"owner","epoch":1,` +
        `"time":${Math.floor(performance.timeOrigin + performance.now())},"schemaVersion":1`;
      const { metadata, hash } = sealMetadata({ id, type, payload: text, head }, chain.hash, sha256);
      chain.hash = hash;
      return { id, type, payload: text, metadata };
    });
    chain.revision += facts.length;
    this.chains.set(stream, chain);
    const outcome = await this.store.append(stream, sealed, { expected });
    if (outcome.status !== 'stored') throw new Error(`the store answered ${outcome.status}`);
  }
}

/** What a session's fact at a revision is, so that each turn has a prompt, a model call, a tool and an end. */
function conversation(revision: number, template: string | undefined): { type: string; payload: unknown } {
  const turn = Math.floor((revision - 1) / 4);
  const time = 1_760_000_000_000 + revision * 1_000;
  if (revision === 0) {
    const labels = template === undefined ? {} : { agentTemplateId: template };
    return { type: 'SessionCreated', payload: { agentId: 'helper', labels } };
  }
  switch ((revision - 1) % 4) {
    case 0: {
      const parts = [{ type: 'text', text: `Question ${turn}` }];
      const ids = { promptId: `p${turn}`, turnId: `t${turn}`, messageId: `m${turn}` };
      return { type: 'PromptAccepted', payload: { ...ids, mode: 'turn', parts } };
    }
    case 1: {
      const usage = { inputTokens: 100 + turn, outputTokens: 10, totalTokens: 110 + turn };
      const times = { startedAt: time, firstDeltaAt: time + 200, endedAt: time + 900 };
      const parts = [{ type: 'text', text: `Answer ${turn}, with some words so that it has a size.` }];
      return { type: 'ModelAnswered', payload: { purpose: 'step', model: 'fast', ...times, usage, parts } };
    }
    case 2:
      return { type: 'ToolCallSettled', payload: { callId: `c${turn}`, status: 'completed', endedAt: time } };
    default:
      return { type: 'RunEnded', payload: { runId: `r${turn}`, turnId: `t${turn}`, status: 'completed', steps: 1 } };
  }
}

/** Keys of so many sessions, of two tenants and none. */
export function sessionsOf(count: number): readonly SessionToMake[] {
  const tenants = ['acme', 'globex', undefined];
  return Array.from({ length: count }, (_, index) => ({
    key: { tenant: tenants[index % tenants.length], id: `s${index}` },
    template: index % 2 === 0 ? 'support' : 'sales',
  }));
}
