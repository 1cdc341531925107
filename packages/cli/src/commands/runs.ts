import type { RunSnapshot } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { openForReading } from '../sessions/recorded-session.js';
import { jsonText } from '../terminal/json-text.js';
import { formatTable } from '../terminal/table.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

/** `perdure runs SESSION`: its runs, the oldest first. */
export function showRuns(context: CliContext, id: string, flags: SessionsFlags): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const { screen, json } = context;
    const { out, outStyle } = screen;
    const session = await openForReading(runtime, sessionKey(id, flags));
    const runs = await session.runs();
    if (json) {
      await out.line(jsonText(runs));
      return exitCodes.completed;
    }
    if (runs.length === 0) {
      await screen.note('The session has no runs.');
      return exitCodes.completed;
    }
    const rows = [['ID', 'BEGAN', 'STATUS', 'EVENTS', 'PROMPT'], ...runs.map(rowOf)];
    const [head = '', ...lines] = formatTable(rows, out.isTerminal ? out.width : Number.POSITIVE_INFINITY);
    await out.line(outStyle.bold(head));
    for (const line of lines) await out.line(line);
    return exitCodes.completed;
  });
}

function rowOf({ id, createdAt, status, eventCount, prompt }: RunSnapshot): readonly string[] {
  return [id, new Date(createdAt).toISOString().slice(0, 19).replace('T', ' '), status, String(eventCount), prompt];
}
