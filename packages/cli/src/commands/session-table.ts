import { PerdureError, type SessionSummary } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { jsonText } from '../terminal/json-text.js';
import { formatTable } from '../terminal/table.js';

/** Prints sessions as a table, or as JSON; `nothing` when there are none. */
export async function printSessions<Summary extends SessionSummary>(
  { screen, json }: CliContext,
  shown: readonly Summary[],
  nothing: string,
  last: { readonly head: string; readonly of: (session: Summary) => string },
): Promise<number> {
  const { out, outStyle } = screen;
  if (json) {
    await out.line(jsonText(shown));
    return exitCodes.completed;
  }
  if (shown.length === 0) {
    await screen.note(nothing);
    return exitCodes.completed;
  }
  const rows = shown.map((session) => [...rowOf(session), last.of(session)]);
  const table = [['ID', 'CHANGED', 'STATUS', 'TOKENS', 'AGENT', 'WORKSPACE', last.head], ...rows];
  const [head = '', ...lines] = formatTable(table, out.isTerminal ? out.width : Number.POSITIVE_INFINITY);
  await out.line(outStyle.bold(head));
  for (const line of lines) await out.line(line);
  return exitCodes.completed;
}

/** Throws PERDURE_INPUT_INVALID. */
export function parseLimit(text: string | undefined): number {
  const limit = Number(text ?? 50);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 500) return limit;
  throw new PerdureError('PERDURE_INPUT_INVALID', { field: '--limit', reason: 'it is a whole number from 1 to 500' });
}

function rowOf({ id, updatedAt, status, archivedAt, totalTokens, agentId, workspace }: SessionSummary) {
  const changed = new Date(updatedAt).toISOString().slice(0, 19).replace('T', ' ');
  return [id, changed, statusWord(status, archivedAt), String(totalTokens), agentId, workspace ?? '-'];
}

/** A run that is under way may be one of a process that is gone: nobody but `resume` finds that out. */
function statusWord(status: SessionSummary['status'], archivedAt: number | null): string {
  if (archivedAt !== null) return 'archived';
  return status === 'idle' ? 'ended' : 'unfinished';
}
