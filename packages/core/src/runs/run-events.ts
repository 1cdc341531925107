import type { RunEvent, RunEventPage, SessionRetentionLimits } from '@perdure/plugin-api';
import { eventsOfFact } from '../live/event-reader.js';
import { readChain } from '../session/chain-reader.js';
import { timeOf } from '../session/fact-encoder.js';
import type { LoadedSession } from '../session/loaded-session.js';
import { eventCountOf, type ListedRun } from './run-list.js';

/** Facts that are read at a time while sizes are added up. */
const PAGE = 256;

type Window = Pick<SessionRetentionLimits, 'maxEventsPerRun' | 'maxEventBytesPerRun'>;

/** The sequences of a run that are retained: from `first` up to before `end`. */
export interface RunWindow {
  readonly first: number;
  readonly end: number;
}

/**
 * What is retained of a run's events. The facts stay in the stream, which is read from its end as far as the bytes
 * reach; nothing of them is held.
 */
export async function runWindow(loaded: LoadedSession, listed: ListedRun, limits: Window): Promise<RunWindow> {
  const { journal, store } = loaded.work;
  const end = eventCountOf(listed, journal.head);
  const { maxEventsPerRun = end, maxEventBytesPerRun } = limits;
  const first = Math.max(0, end - maxEventsPerRun);
  if (maxEventBytesPerRun === undefined || listed.run === undefined) return { first, end };
  const start = listed.run.first;
  let bytes = 0;
  let from: number | undefined = start + end - 1;
  while (from !== undefined && from >= start + first) {
    const page = await store.read(journal.stream, { direction: 'backwards', from, limit: PAGE });
    for (const { revision, payload, metadata } of page.facts) {
      if (revision < start + first) return { first, end };
      bytes += Buffer.byteLength(payload) + Buffer.byteLength(metadata);
      if (bytes > maxEventBytesPerRun) return { first: revision - start + 1, end };
    }
    from = page.next;
  }
  return { first, end };
}

/** Events of a run with sequences from `first` up to before `end`, read from the stream and checked. */
export async function readRunEvents(
  loaded: LoadedSession,
  listed: ListedRun,
  { first, end }: RunWindow,
): Promise<readonly RunEvent[]> {
  const { run } = listed;
  const events: RunEvent[] = [];
  if (run === undefined || first >= end) return events;
  const { journal, store, key } = loaded.work;
  const range = { from: run.first + first };
  for await (const page of readChain(store, journal.stream, range, { until: run.first + end })) {
    for (const recorded of page) {
      const { revision, type } = recorded;
      const { payload } = journal.registry.read(recorded);
      events.push({
        sequence: revision - run.first,
        timestamp: timeOf(recorded),
        fact: type,
        events: eventsOfFact(key.id, { revision, type, payload, recorded }, loaded.index),
      });
    }
  }
  return events;
}

/** A page of the events behind a sequence. */
export async function readRunEventPage(
  loaded: LoadedSession,
  listed: ListedRun,
  window: RunWindow,
  { afterSequence, limit }: { readonly afterSequence: number | undefined; readonly limit: number },
): Promise<RunEventPage> {
  const wanted = afterSequence === undefined ? 0 : afterSequence + 1;
  const first = Math.min(Math.max(wanted, window.first), window.end);
  const events = await readRunEvents(loaded, listed, { first, end: Math.min(window.end, first + limit) });
  const next = events.at(-1)?.sequence ?? Math.max(afterSequence ?? -1, window.first - 1);
  return {
    events,
    firstAvailableSequence: window.first,
    latestSequenceExclusive: window.end,
    nextAfterSequence: next < 0 ? null : next,
    retentionGap: wanted < window.first,
    hasMore: next + 1 < window.end,
  };
}
