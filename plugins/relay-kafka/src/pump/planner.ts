import {
  evolveSessionRow,
  relayColumns,
  relaySessionKey,
  sessionKeyOf,
  sessionStream,
  type RecordedFact,
  type RelayColumns,
  type SessionRow,
} from '@perdure/events';
import type { EventStore } from '@perdure/plugin-api';
import type { RelayFilter } from '../options.js';
import type { StreamEntry, StreamMemory } from './stream-memory.js';

/** A fact that is to be sent. */
export interface PlannedFact {
  readonly fact: RecordedFact;
  readonly columns: RelayColumns;
  /** The revision of the stream's message before it. */
  readonly prevRevision: number | undefined;
  /** What its session has come to; `null` when that is erased, and absent for a fact of another stream. */
  readonly row?: SessionRow | null;
}

export interface Plan {
  readonly facts: readonly PlannedFact[];
  /** What becomes of the memory once all of it is on the topic. */
  readonly changes: ReadonlyMap<string, StreamEntry | null>;
}

/** Finds what is to be sent of the facts of a store, and what each needs beside itself. */
export class Planner {
  constructor(
    private readonly store: EventStore,
    private readonly filter: RelayFilter,
    private readonly memory: StreamMemory,
  ) {}

  async plan(facts: readonly RecordedFact[]): Promise<Plan> {
    const changes = new Map<string, StreamEntry | null>();
    const planned: PlannedFact[] = [];
    for (const fact of facts) {
      const staged = changes.get(fact.stream);
      const known = staged === undefined ? this.memory.get(fact.stream) : staged;
      const entry = known ?? (await this.recall(fact));
      const isSession = sessionKeyOf(fact.stream) !== undefined;
      let row: SessionRow | null | undefined;
      if (entry.isWanted) {
        const columns = relayColumns(fact);
        row = isSession ? evolveSessionRow(entry.row, fact, columns) : undefined;
        planned.push({ fact, columns, prevRevision: entry.last, ...(row === undefined ? {} : { row }) });
      }
      const isOver = fact.type === 'SessionErased';
      changes.set(
        fact.stream,
        isOver ? null : { isWanted: entry.isWanted, last: fact.revision, row: row ?? undefined },
      );
    }
    return { facts: planned, changes };
  }

  /** What there was of a stream before a fact of it, from the store. */
  private async recall(fact: RecordedFact): Promise<StreamEntry> {
    const isWanted = await this.isWanted(fact);
    if (!isWanted || fact.revision === 0) return { isWanted };
    if (sessionKeyOf(fact.stream) === undefined) {
      const { facts } = await this.store.read(fact.stream, { from: fact.revision - 1, limit: 1 });
      return { isWanted, last: facts[0]?.revision === fact.revision - 1 ? fact.revision - 1 : undefined };
    }
    let row: SessionRow | undefined;
    let last: number | undefined;
    for (let from: number | undefined = 0; from !== undefined && from < fact.revision;) {
      const page: Awaited<ReturnType<EventStore['read']>> = await this.store.read(fact.stream, { from });
      for (const earlier of page.facts) {
        if (earlier.revision >= fact.revision) break;
        row = evolveSessionRow(row, earlier) ?? undefined;
        last = earlier.revision;
      }
      from = page.next;
    }
    // Behind a piece that was erased nobody knows what of it had been relayed.
    return { isWanted, row, last: last === fact.revision - 1 ? last : undefined };
  }

  /** Whether the filter lets the stream of a fact through. */
  async isWanted(fact: RecordedFact): Promise<boolean> {
    const { tenants, templates } = this.filter;
    const key = relaySessionKey(fact.stream);
    if (tenants !== undefined && !tenants.includes(key?.tenant ?? null)) return false;
    if (templates === undefined) return true;
    const template = await this.templateOf(fact);
    return template !== undefined && templates.includes(template);
  }

  /** The template of the session, or of the budget's root session, when it was created. */
  private async templateOf(fact: RecordedFact): Promise<string | undefined> {
    const key = relaySessionKey(fact.stream);
    if (key === undefined) return undefined;
    const first =
      fact.revision === 0 && sessionKeyOf(fact.stream) !== undefined
        ? fact
        : (await this.store.read(sessionStream(key), { limit: 1 })).facts[0];
    // Of an erased session what is left says it, too: facts carry the labels of their session.
    const told = first ?? fact;
    const isOpening = told.type === 'SessionCreated' || told.type === 'SessionForked';
    const columns = isOpening ? evolveSessionRow(undefined, told) : relayColumns(told);
    return columns?.agent_template_id ?? undefined;
  }
}
