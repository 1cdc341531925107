import type { CliContext } from '../cli-context.js';
import { parseLimit, printSessions } from './session-table.js';
import type { SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface SessionsListFlags extends SessionsFlags {
  readonly limit?: string;
  readonly archived?: true;
  readonly query?: string;
}

/** `perdure sessions list`: the sessions of the store, of all agents and workspaces. */
export async function sessionsList(context: CliContext, flags: SessionsListFlags): Promise<number> {
  const limit = parseLimit(flags.limit);
  const { tenant, query, archived = false } = flags;
  return withStore(context, flags, async (runtime) => {
    const asked = { limit, archived, ...(query === undefined ? {} : { query }) };
    const { items } = await runtime.sessions(asked, tenant === undefined ? {} : { tenant });
    const nothing = query === undefined ? 'There are no sessions yet.' : 'No session fits.';
    const title = { head: 'TITLE', of: (session: (typeof items)[number]) => session.title ?? '' };
    return printSessions(context, items, archived ? 'No session is archived.' : nothing, title);
  });
}
