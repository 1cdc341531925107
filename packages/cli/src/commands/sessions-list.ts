import type { SessionSummary } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { parseLimit, printSessions } from './session-table.js';
import type { SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface SessionsListFlags extends SessionsFlags {
  readonly limit?: string;
  readonly archived?: true;
  readonly all?: true;
  readonly query?: string;
}

/** `perdure sessions list`: those of all agents and workspaces, with `--all` also those that work for others. */
export async function sessionsList(context: CliContext, flags: SessionsListFlags): Promise<number> {
  const limit = parseLimit(flags.limit);
  const { tenant, query, archived = false, all = false } = flags;
  return withStore(context, flags, async (runtime) => {
    const asked = { limit, archived, ...(all ? {} : { parent: null }), ...(query === undefined ? {} : { query }) };
    const { items } = await runtime.sessions(asked, tenant === undefined ? {} : { tenant });
    const nothing = query === undefined ? 'There are no sessions yet.' : 'No session fits.';
    const title = { head: 'TITLE', of: titleCell };
    return printSessions(context, items, archived ? 'No session is archived.' : nothing, title);
  });
}

function titleCell({ title, parent }: SessionSummary): string {
  return `${parent === null ? '' : `(for ${parent}) `}${title ?? ''}`;
}
