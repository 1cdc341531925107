import type { Change, PayloadOf } from '@perdure/events';
import { reasonOf, type Mutation, type MutationOptions } from '@perdure/plugin-api';
import { parseCursor } from '../live/cursor.js';
import { presentPlace } from '../live/feed-walk.js';
import type { MutationSource } from '../live/mutation-writer.js';
import { readMutations } from '../live/mutations.js';
import { eventSource } from './event-source.js';
import type { LoadedSession } from './loaded-session.js';
import type { SessionHome } from './session-home.js';

/** Tells a listener of the changes of a session. It stays in memory until the function that this returns is called. */
export function listenTo(
  home: SessionHome,
  listener: (mutation: Mutation) => unknown,
  { from, onEnd }: MutationOptions,
): () => void {
  const { id } = home.key;
  const ended = new AbortController();
  const report = (error: unknown): void => {
    home.logger.log('warn', 'A listener of a session failed.', { session: id, reason: reasonOf(error) });
  };
  const held = home.hold();
  const read = async (): Promise<void> => {
    const loaded = await held.loaded;
    loaded.follow();
    const source = mutationSource(loaded);
    if (from !== undefined) await loaded.work.journal.refresh();
    const start = from === undefined ? presentPlace(source) : parseCursor(from, id, source.head());
    const ends = { signal: ended.signal, over: loaded.over };
    for await (const mutation of readMutations(source, start, ends)) {
      try {
        await listener(mutation);
      } catch (error) {
        report(error);
      }
    }
  };
  const end = (...error: readonly [] | readonly [unknown]): void => {
    held.release();
    if (ended.signal.aborted) return;
    if (error.length > 0 && onEnd === undefined) report(error[0]);
    try {
      onEnd?.(...error);
    } catch (thrown) {
      report(thrown);
    }
  };
  read().then(
    () => end(),
    (error: unknown) => end(error),
  );
  return () => {
    ended.abort();
    held.release();
  };
}

function mutationSource(loaded: LoadedSession): MutationSource {
  return { ...eventSource(loaded), changeBefore: (changeId, revision) => changeBefore(loaded, changeId, revision) };
}

/** Facts that are looked through at once. */
const PAGE = 256;

async function changeBefore(
  { work: { store, journal } }: LoadedSession,
  changeId: string,
  revision: number,
): Promise<Change | undefined> {
  for (let from: number | undefined = revision; from !== undefined && from >= 0;) {
    const page: Awaited<ReturnType<typeof store.read>> = await store.read(journal.stream, {
      direction: 'backwards',
      from,
      limit: PAGE,
    });
    for (const fact of page.facts) {
      if (fact.type !== 'ChangeRequested') continue;
      const { changeId: id, change } = journal.registry.read(fact).payload as PayloadOf<'ChangeRequested'>;
      if (id === changeId) return change;
    }
    from = page.next;
  }
  return undefined;
}
