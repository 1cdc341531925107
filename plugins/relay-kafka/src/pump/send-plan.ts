import { relayMessage, relayMessageKey, type SessionRow } from '@perdure/events';
import type { Message } from 'kafkajs';
import { failureKind } from '../kafka/failure.js';
import type { Sender } from '../kafka/sender.js';
import type { TopicNames } from '../topics/topic-names.js';
import type { PlannedFact } from './planner.js';

/** Where messages go, and what they say of where they are from. */
export interface Route {
  readonly names: TopicNames;
  /** `ce_source`. */
  readonly source: string;
}

/** How the facts of a chunk are sent: all at once, or, where that was too much, in pieces or as a dead letter. */
export interface Sending {
  readonly facts: readonly PlannedFact[];
  /** The one fact is a dead letter: `whole`, or without the payload that is too large even for that topic. */
  readonly deadLetter?: 'whole' | 'bare';
}

/** Sends the facts, and what their sessions have come to, in one transaction. */
export async function send(sender: Sender, { facts, deadLetter }: Sending, route: Route): Promise<void> {
  const { names, source } = route;
  const states = stateMessages(facts, source);
  const state = states.length === 0 ? [] : [{ topic: names.state, messages: states }];
  await sender.transact(async (transmit) => {
    const [planned] = facts;
    if (deadLetter === undefined || planned === undefined) {
      await transmit({ topic: names.facts, messages: facts.map((each) => factMessage(each, source)) }, ...state);
      return;
    }
    const place = await transmit({ topic: names.deadLetters, messages: [letterOf(planned, deadLetter, source)] });
    await transmit({ topic: names.facts, messages: [factMessage(planned, source, place)] }, ...state);
  });
}

/** What is tried next when a sending was too large; `undefined` when even the stub is. */
export function smaller({ facts, deadLetter }: Sending): readonly Sending[] | undefined {
  if (facts.length > 1) {
    const half = Math.ceil(facts.length / 2);
    return [{ facts: facts.slice(0, half) }, { facts: facts.slice(half) }];
  }
  if (deadLetter === undefined) return [{ facts, deadLetter: 'whole' }];
  return deadLetter === 'whole' ? [{ facts, deadLetter: 'bare' }] : undefined;
}

export function isTooLarge(error: unknown): boolean {
  return failureKind(error) === 'too-large';
}

function factMessage({ fact, columns, prevRevision }: PlannedFact, source: string, deadLetter?: string): Message {
  const { key, value, headers } = relayMessage(fact, {
    source,
    prevRevision,
    columns,
    ...(deadLetter === undefined ? {} : { deadLetter }),
  });
  return { key, value, headers };
}

/** The message as it would have been, with the reason; `bare` without what the fact says. */
function letterOf({ fact, columns, prevRevision }: PlannedFact, how: 'whole' | 'bare', source: string): Message {
  const whole = relayMessage(fact, { source, prevRevision, columns });
  const headers = { ...whole.headers, ce_deadletterreason: 'message-too-large' };
  if (how === 'whole') return { key: whole.key, value: whole.value, headers };
  return { key: whole.key, value: JSON.stringify({ ...columns, fact: null }), headers };
}

/** One message for each session: its row behind the last of the facts, or its tombstone. */
function stateMessages(facts: readonly PlannedFact[], source: string): Message[] {
  const last = new Map<string, { readonly planned: PlannedFact; readonly row: SessionRow | null }>();
  for (const planned of facts) {
    const { fact, row } = planned;
    if (row !== undefined) last.set(fact.stream, { planned, row });
  }
  return Array.from(last.values(), ({ planned: { fact }, row }) => ({
    key: relayMessageKey(fact.stream),
    value: row === null ? null : JSON.stringify(row),
    headers: {
      'content-type': 'application/json',
      ce_specversion: '1.0',
      ce_id: fact.id,
      ce_source: source,
      ce_type: 'dev.perdure.session-state.v1',
      ce_subject: relayMessageKey(fact.stream),
      ce_revision: String(fact.revision),
      ce_position: fact.position,
    },
  }));
}
