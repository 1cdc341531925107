import { PerdureError, type SessionSummary } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { jsonText } from '../terminal/json-text.js';
import { formatTable } from '../terminal/table.js';
import type { SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface SessionsListFlags extends SessionsFlags {
  readonly limit?: string;
}

/** `perdure sessions list`: the sessions of the store, of all agents and workspaces. */
export async function sessionsList(context: CliContext, flags: SessionsListFlags): Promise<number> {
  const limit = Number(flags.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 500) {
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: '--limit', reason: 'it is a whole number from 1 to 500' });
  }
  return withStore(context, flags, async (runtime) => {
    const { tenant } = flags;
    const { items: shown } = await runtime.sessions({ limit }, tenant === undefined ? {} : { tenant });
    const { screen, json } = context;
    const { out, outStyle } = screen;
    if (json) {
      await out.line(jsonText(shown));
      return exitCodes.completed;
    }
    if (shown.length === 0) {
      await screen.note('There are no sessions yet.');
      return exitCodes.completed;
    }
    const rows = [['ID', 'CHANGED', 'STATUS', 'TOKENS', 'AGENT', 'WORKSPACE', 'PROMPT'], ...shown.map(rowOf)];
    const [head = '', ...lines] = formatTable(rows, out.isTerminal ? out.width : Number.POSITIVE_INFINITY);
    await out.line(outStyle.bold(head));
    for (const line of lines) await out.line(line);
    return exitCodes.completed;
  });
}

function rowOf({ id, updatedAt, status, totalTokens, agentId, workspace, preview }: SessionSummary): readonly string[] {
  const changed = new Date(updatedAt).toISOString().slice(0, 19).replace('T', ' ');
  return [id, changed, statusWord(status), String(totalTokens), agentId, workspace ?? '-', preview];
}

/** A run that is under way may be one of a process that is gone: nobody but `resume` finds that out. */
function statusWord(status: SessionSummary['status']): string {
  return status === 'idle' ? 'ended' : 'unfinished';
}
