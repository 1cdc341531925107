import type { RecordedFact } from '@perdure/events';
import type { EventStore, ExpectedRevision, NewFact, ReadOptions } from '@perdure/plugin-api';
import { expect } from 'vitest';

let made = 0;

/** A UUID that no other fact of this process has. */
export function freshId(): string {
  made += 1;
  return `5eed0000-0000-4000-8000-${made.toString(16).padStart(12, '0')}`;
}

/** A fact with a fresh id; what a test does not say is small and different for each fact. */
export function newFact(members: Partial<NewFact> = {}): NewFact {
  const id = members.id ?? freshId();
  const payload = members.payload ?? JSON.stringify({ said: `fact ${made}`, number: made });
  const metadata =
    members.metadata ?? JSON.stringify({ sessionId: 's', time: 1_700_000_000_000 + made, lane: 'owner' });
  return { type: 'Happened', ...members, id, payload, metadata };
}

export function newFacts(count: number, members: Partial<NewFact> = {}): NewFact[] {
  return Array.from({ length: count }, () => newFact(members));
}

/** Appends and demands that it is stored. */
export async function store(
  eventStore: EventStore,
  stream: string,
  facts: readonly NewFact[],
  expected: ExpectedRevision,
): Promise<{ readonly revision: number; readonly position: string }> {
  const result = await eventStore.append(stream, facts, { expected });
  if (result.status !== 'stored') throw new Error(`${stream} at ${expected}: ${JSON.stringify(result)}`);
  return result;
}

/** Reads on through `next` to the end. Fails when a page does not lead on in the direction asked for. */
export async function readAll(
  eventStore: EventStore,
  stream: string,
  options: ReadOptions = {},
): Promise<RecordedFact[]> {
  const facts: RecordedFact[] = [];
  let from = options.from;
  for (;;) {
    const page = await eventStore.read(stream, { ...options, ...(from === undefined ? {} : { from }) });
    facts.push(...page.facts);
    if (page.next === undefined) return facts;
    if (from !== undefined) {
      if (options.direction === 'backwards') expect(page.next).toBeLessThan(from);
      else expect(page.next).toBeGreaterThan(from);
    }
    from = page.next;
  }
}

/** What a stream must hold after these facts were appended to it, beside the positions. */
export function recorded(stream: string, facts: readonly NewFact[], first = 0): Omit<RecordedFact, 'position'>[] {
  return facts.map(({ id, type, payload, metadata }, index) => ({
    stream,
    revision: first + index,
    id,
    type,
    payload,
    metadata,
  }));
}

export function withoutPosition(facts: readonly RecordedFact[]): Omit<RecordedFact, 'position'>[] {
  return facts.map(({ position: _, ...fact }) => fact);
}

export function idsOf(facts: readonly { readonly id: string }[]): string[] {
  return facts.map(({ id }) => id);
}
