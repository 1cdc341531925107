import type { RecordedFact } from '@perdure/events';
import type { EventStore, ExpectedRevision, NewFact, ReadOptions } from '@perdure/plugin-api';

let made = 0;

/** A fact that says which batch it belongs to. Ids are different in every process that has another `lot`. */
export function newFact(members: Partial<NewFact> = {}, lot = 0): NewFact {
  made += 1;
  const id = `${lot.toString(16).padStart(8, '0')}-0000-4000-8000-${made.toString(16).padStart(12, '0')}`;
  const metadata = JSON.stringify({ sessionId: 's1', time: 1_700_000_000_000 + made, prevHash: 'p', hash: `h${made}` });
  return { id, type: 'Happened', payload: JSON.stringify({ text: 'ü😀 text', made }), metadata, ...members };
}

export function newFacts(count: number, members: Partial<NewFact> = {}, lot = 0): NewFact[] {
  return Array.from({ length: count }, () => newFact(members, lot));
}

/** Appends and demands that it is stored. Returns the last revision. */
export async function store(
  events: EventStore,
  stream: string,
  facts: readonly NewFact[],
  expected: ExpectedRevision,
): Promise<number> {
  const result = await events.append(stream, facts, { expected });
  if (result.status !== 'stored') throw new Error(`${stream} at ${expected}: ${JSON.stringify(result)}`);
  return result.revision;
}

export async function readAll(events: EventStore, stream: string, options: ReadOptions = {}): Promise<RecordedFact[]> {
  const facts: RecordedFact[] = [];
  let page = await events.read(stream, options);
  for (;;) {
    facts.push(...page.facts);
    if (page.next === undefined) return facts;
    page = await events.read(stream, { ...options, from: page.next });
  }
}

/** Everything that the store gives to a follower, up to its end. */
export async function followAll(events: EventStore, options: { categories?: string[] } = {}): Promise<RecordedFact[]> {
  const facts: RecordedFact[] = [];
  for await (const batch of events.subscribe({ all: true }, options)) {
    facts.push(...batch.facts);
    if (batch.caughtUp) break;
  }
  return facts;
}
