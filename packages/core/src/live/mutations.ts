import type { Mutation } from '@perdure/plugin-api';
import type { Cursor } from './cursor.js';
import { walkFeed, type ReaderEnds } from './feed-walk.js';
import { MutationWriter, type MutationSource } from './mutation-writer.js';

/** Everything behind a cursor, then what comes, as mutations; see `walkFeed`. */
export async function* readMutations(
  source: MutationSource,
  from: Cursor,
  ends: ReaderEnds,
): AsyncGenerator<Mutation, void, undefined> {
  const writer = new MutationWriter(source, from);
  let sequence = 0;
  for await (const item of walkFeed(source, from, ends)) {
    const told = await writer.mutationsOf(item);
    for (const [index, mutation] of told.entries()) {
      // Whoever goes on between two of them meets the fact again, whole.
      const isLast = index === told.length - 1;
      const cursor = isLast ? item.cursor : writer.cursor;
      sequence += 1;
      yield { sessionId: source.sessionId, sequence, cursor, ...mutation };
    }
    writer.passed(item.cursor);
  }
}
