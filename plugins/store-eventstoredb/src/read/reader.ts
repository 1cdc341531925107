import { setTimeout as delay } from 'node:timers/promises';
import { PerdureError, type ExpectedRevision, type ReadOptions, type ReadPage } from '@perdure/plugin-api';
import { unavailable } from '../append/append-batch.js';
import type { CallQueue } from '../append/call-queue.js';
import type { Connection, Limits, Page, ReadStreamOptions, Settings, StoredEvent } from '../client/connection.js';
import { failureOf } from '../client/failure.js';
import { LogPages, PAGE } from './log-pages.js';
import { factOf, type ReadFact } from '../wire/fact-event.js';

const TRIES = 5;
const FIRST_WAIT_MS = 25;

/** Reads pages, each bounded, timed, and tried again while the server is away for a moment. */
export class Reader {
  private readonly connection: Connection;
  private readonly queue: CallQueue;
  /** Of the whole log. */
  readonly log: LogPages;
  private readonly timeoutMs: number;

  constructor(connection: Connection, queue: CallQueue, timeoutMs: number) {
    this.connection = connection;
    this.queue = queue;
    this.timeoutMs = timeoutMs;
    this.log = new LogPages((position, signal) => {
      const options = { limit: PAGE, ...this.limits(signal), ...(position !== undefined && { after: position }) };
      return this.tried(() => this.connection.readAll(options), signal);
    });
  }

  async page(
    stream: string,
    { from, direction = 'forwards', limit, omitDetail, signal }: ReadOptions,
  ): Promise<ReadPage> {
    const most = Math.min(limit ?? PAGE, PAGE);
    const start = from ?? (direction === 'forwards' ? 0 : 'end');
    // One before it tells where a stream ends that has nothing behind, which is what most tails are read for.
    const first = direction === 'forwards' && typeof start === 'number' && start > 0 ? start - 1 : start;
    // One more tells whether there is a next page.
    const page = await this.events(stream, { from: first, direction, limit: most + (first === start ? 1 : 2) }, signal);
    const all = page?.events ?? [];
    const events = first === start ? all : all.filter(({ revision }) => revision !== first);
    const kept = events.slice(0, most);
    const last = kept.at(-1);
    const beyond =
      events[most]?.revision ?? (page?.isCut === true && last !== undefined ? after(last, direction) : undefined);
    const head =
      headSeen(all, direction, start, beyond) ??
      (page === undefined ? await this.headBySettings(stream, signal) : await this.headOf(stream, signal));
    const facts = kept.map((event) => factIn(stream, event));
    return {
      facts: facts.filter(({ isDetail }) => !(omitDetail === true && isDetail)).map(({ fact }) => fact),
      head,
      ...(beyond !== undefined && { next: beyond }),
    };
  }

  /** A page for a follower, who needs no head. */
  async forwards(
    stream: string,
    from: number,
    signal: AbortSignal,
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly isLast: boolean }> {
    const page = await this.events(stream, { from, direction: 'forwards', limit: PAGE }, signal);
    const events = page?.events ?? [];
    return { events, isLast: page?.isCut !== true && events.length < PAGE };
  }

  /** The last revision, also of a stream whose facts are all truncated. */
  async headOf(stream: string, signal?: AbortSignal): Promise<ExpectedRevision> {
    const page = await this.events(stream, { from: 'end', direction: 'backwards', limit: 1 }, signal);
    const [last] = page?.events ?? [];
    return last === undefined ? this.headBySettings(stream, signal) : last.revision;
  }

  /** The head of a stream in which nothing is left. */
  private async headBySettings(stream: string, signal: AbortSignal | undefined): Promise<ExpectedRevision> {
    // The store never truncates behind what was there: where nothing is left, the cut is right behind the head.
    const before = cutIn(await this.settingsOf(stream, signal));
    return before === 0 ? 'none' : before - 1;
  }

  /** What is set for a stream, where it was truncated among it. */
  settingsOf(stream: string, signal?: AbortSignal): Promise<Settings | undefined> {
    return this.tried(() => this.connection.readSettings(stream, this.limits(signal)), signal);
  }

  /** A page of a stream as it is; `undefined` when there is no such stream. */
  events(
    stream: string,
    options: Pick<ReadStreamOptions, 'from' | 'direction' | 'limit'>,
    signal?: AbortSignal,
  ): Promise<Page | undefined> {
    return this.tried(() => this.connection.readStream(stream, { ...options, ...this.limits(signal) }), signal);
  }

  private limits(signal: AbortSignal | undefined): Limits {
    return { timeoutMs: this.timeoutMs, ...(signal !== undefined && { signal }) };
  }

  private async tried<Result>(read: () => Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
    for (let tried = 1; ; tried += 1) {
      signal?.throwIfAborted();
      try {
        return await this.queue.limited(read);
      } catch (error) {
        signal?.throwIfAborted();
        const failure = failureOf(error);
        const mayPass = failure.kind === 'ambiguous' || failure.kind === 'not-now';
        if (failure.kind === 'deleted') throw unavailable('the stream was deleted for ever', error);
        if (!mayPass || tried === TRIES) throw unavailable('reason' in failure ? failure.reason : failure.kind, error);
        await delay(FIRST_WAIT_MS * 2 ** (tried - 1));
      }
    }
  }
}

/** The revision with which a stream begins by its settings. */
export function cutIn(settings: Settings | undefined): number {
  const before = settings?.values['$tb'];
  return typeof before === 'number' ? before : 0;
}

/** The head, when the page itself shows it. */
function headSeen(
  events: readonly StoredEvent[],
  direction: 'forwards' | 'backwards',
  start: number | 'end',
  beyond: number | undefined,
): number | undefined {
  if (direction === 'forwards') return beyond === undefined ? events.at(-1)?.revision : undefined;
  const first = events[0]?.revision;
  return first !== undefined && (start === 'end' || first < start) ? first : undefined;
}

function after({ revision }: StoredEvent, direction: 'forwards' | 'backwards'): number | undefined {
  if (direction === 'forwards') return revision + 1;
  return revision === 0 ? undefined : revision - 1;
}

export function factIn(stream: string, event: StoredEvent): ReadFact {
  const found = factOf(event);
  if (found !== undefined) return found;
  const reason = `revision ${event.revision} of "${stream}" is not a fact`;
  throw new PerdureError('PERDURE_STORE_DAMAGED', { reason });
}
