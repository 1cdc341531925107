import type { FoundSession } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { parseLimit, printSessions } from './session-table.js';
import type { SessionsListFlags } from './sessions-list.js';
import { withStore } from './with-store.js';

export type SessionsSearchFlags = Omit<SessionsListFlags, 'query'>;

/** `perdure sessions search TEXT`: the sessions whose id, title, preview or messages contain a text. */
export async function sessionsSearch(context: CliContext, text: string, flags: SessionsSearchFlags): Promise<number> {
  const limit = parseLimit(flags.limit);
  const { tenant, archived = false } = flags;
  return withStore(context, flags, async (runtime) => {
    const { items } = await runtime.searchSessions(text, { limit, archived }, tenant === undefined ? {} : { tenant });
    const found = { head: 'FOUND', of: ({ found: { in: where, excerpt } }: FoundSession) => `${where}: ${excerpt}` };
    return printSessions(context, items, 'No session contains it.', found);
  });
}
