import { createTestRuntime } from '@perdure/core/testing';
import { sessionStream, type EffectContract, type EventEnvelopeV1, type RecordedFact } from '@perdure/events';
import {
  ARTIFACT_STORE,
  definePlugin,
  EVENT_STORE,
  isPerdureError,
  PROJECTION_STORE,
  type ArtifactStore,
  type EventStore,
  type NewFact,
  type ProjectionStore,
  type Session,
  type TurnResult,
} from '@perdure/plugin-api';
import { ScriptedModel } from '@perdure/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { allowing } from '../fixtures/agents.js';

export interface StormStores {
  readonly events: EventStore;
  readonly artifacts: ArtifactStore;
  readonly projections: ProjectionStore;
  close(): Promise<void>;
}

/** What the store has acknowledged to anyone, by stream and revision. */
export type Acknowledged = Map<string, Map<number, string>>;

/** What happened while the server was killed, for the looks afterwards. */
export class StormRecord {
  readonly acknowledged: Acknowledged = new Map();
  /** Each effect of each tool: contract, session and turn. */
  readonly effects: string[] = [];

  note(stream: string, facts: readonly NewFact[], last: number): void {
    const known = this.acknowledged.get(stream) ?? new Map<number, string>();
    for (const [index, { id }] of facts.entries()) known.set(last - facts.length + 1 + index, id);
    this.acknowledged.set(stream, known);
  }
}

const CONTRACTS: readonly EffectContract[] = ['once', 'idempotent', 'read'];

/** `<session> <turn>`: a call of each contract, one after the other, and an answer in pieces. */
const model = () =>
  new ScriptedModel(({ lastUserText, toolResultsSince }) => {
    const next = CONTRACTS[toolResultsSince.length];
    if (next !== undefined) return { calls: [{ name: next, input: { place: lastUserText } }] };
    return { text: `all of ${lastUserText} is done now`, deltas: 6, deltaDelayMs: 3 };
  });

export async function startStormNode(nodeId: string, open: () => Promise<StormStores>, record: StormRecord) {
  const stores = definePlugin({
    name: 'stores',
    api: 1,
    version: '1.0.0',
    config: z.object({}),
    provides: [EVENT_STORE, ARTIFACT_STORE, PROJECTION_STORE],
    setup: async ({ provide }) => {
      const opened = await open();
      provide(EVENT_STORE, recording(opened.events, record));
      provide(ARTIFACT_STORE, opened.artifacts);
      provide(PROJECTION_STORE, opened.projections);
      return { stop: () => opened.close() };
    },
  });
  const runtime = await createTestRuntime({
    plugins: [stores, allowing],
    env: { nodeId },
    leaseTtlMs: 3_000,
    storePatienceMs: 120_000,
    keepsSessions: true,
  });
  const tools = Object.fromEntries(
    CONTRACTS.map((effect) => [
      effect,
      {
        inputSchema: z.object({ place: z.string() }),
        effect,
        execute: async ({ place }: { place: string }) => {
          record.effects.push(`${effect} ${place}`);
          await sleep(5);
          return `${effect} at ${place}`;
        },
      },
    ]),
  );
  const agent = runtime.agent({ id: 'clerk', model: model(), tools });
  await agent.ready();
  return { runtime, agent };
}

function recording(events: EventStore, record: StormRecord): EventStore {
  return {
    name: events.name,
    capabilities: events.capabilities,
    limits: events.limits,
    append: async (stream, facts, options) => {
      const result = await events.append(stream, facts, options);
      if (result.status === 'stored') record.note(stream, facts, result.revision);
      return result;
    },
    read: (stream, options) => events.read(stream, options),
    subscribe: (source, options) => events.subscribe(source, options),
    truncate: (stream, before) => events.truncate(stream, before),
    close: () => events.close(),
  };
}

const isAway = (error: unknown): boolean => isPerdureError(error, 'PERDURE_STORE_UNAVAILABLE');

/** As who uses a session must: what was refused because the store is away is asked again. */
export async function again<Result>(work: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error)) throw error;
      await sleep(20);
    }
  }
}

/** Turn after turn of one session until it is over; every prompt is the same one when it has to be repeated. */
export async function driveTurns(
  session: Session,
  isOver: () => boolean,
  onTurn: () => void,
): Promise<readonly TurnResult[]> {
  const results: TurnResult[] = [];
  while (!isOver()) {
    const query = `${session.id} ${results.length}`;
    const turn = await again(() => session.prompt({ query, promptId: query, whenBusy: 'queue' }));
    results.push(await turn.finished);
    onTurn();
  }
  return results;
}

/** A reader of the events of a session, who goes on behind the last one whenever the store was away. */
export interface Reader {
  readonly events: readonly EventEnvelopeV1[];
  readonly ended: Promise<void>;
}

/** Reads until the signal aborts; with a number, it also comes again after so many events. */
export function readEvents(
  find: () => Promise<Session>,
  signal: AbortSignal,
  reconnectsAfter = Number.POSITIVE_INFINITY,
): Reader {
  const events: EventEnvelopeV1[] = [];
  const connect = async (): Promise<void> => {
    const from = events.at(-1)?.metadata?.['cursor'];
    let read = 0;
    for await (const event of (await find()).events({ signal, ...(typeof from === 'string' ? { from } : {}) })) {
      events.push(event);
      read += 1;
      if (read >= reconnectsAfter) return;
    }
  };
  const read = async (): Promise<void> => {
    while (!signal.aborted) await again(connect);
  };
  return { events, ended: read() };
}

/** Follows the whole store and keeps what it is given of sessions. */
export function followStore(
  store: EventStore,
  signal: AbortSignal,
): { readonly seen: readonly RecordedFact[]; readonly ended: Promise<void> } {
  const seen: RecordedFact[] = [];
  const follow = async (): Promise<void> => {
    for await (const { facts } of store.subscribe({ all: true }, { categories: ['session'], signal }))
      seen.push(...facts);
  };
  return { seen, ended: follow() };
}

export async function factsOf(store: EventStore, id: string): Promise<readonly RecordedFact[]> {
  const facts: RecordedFact[] = [];
  for (let from: number | undefined = 0; from !== undefined;) {
    const page: Awaited<ReturnType<EventStore['read']>> = await store.read(sessionStream({ id }), { from });
    facts.push(...page.facts);
    from = page.next;
  }
  return facts;
}

/** What has no revision for who sees it grow. */
const GROWING: ReadonlySet<string> = new Set(['tool_start', 'tool_input_delta']);

/** What a reader was shown up to a revision: text joined, the rest by type and revision. */
export function shown(events: readonly EventEnvelopeV1[], until: number): readonly string[] {
  const last = events.findLastIndex(({ metadata }) => metadata?.['revision'] === until);
  const lines: string[] = [];
  let isText = false;
  for (const { type, payload, metadata } of events.slice(0, last + 1)) {
    if (type === 'text_delta') {
      if (isText) lines[lines.length - 1] += String(payload['text']);
      else lines.push(String(payload['text']));
    } else if (GROWING.has(type)) lines.push(type);
    else lines.push(`${type} ${String(metadata?.['revision'] ?? '')}`);
    isText = type === 'text_delta';
  }
  // Pieces of arguments come in other sizes to who reads late.
  return lines.filter((line, index) => !GROWING.has(line) || line !== lines[index - 1]);
}
