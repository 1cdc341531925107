import type { SessionInfo } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { openForReading } from '../sessions/recorded-session.js';
import { formatMessage } from '../sessions/transcript.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

/** Messages that are read at a time. */
const PAGE = 500;

/** `perdure sessions show ID`: the transcript. */
export function sessionsShow(context: CliContext, id: string, flags: SessionsFlags): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const { out, outStyle } = context.screen;
    const session = await openForReading(runtime, sessionKey(id, flags));
    const info = await session.info();
    if (context.json) {
      const { items } = await session.messages({ limit: Math.max(1, info.messages) });
      await out.line(jsonText({ session: info, messages: items }));
      return exitCodes.completed;
    }
    for (const line of head(info)) await out.line(outStyle.dim(line));
    for (let first = 1; first <= info.messages && !out.closed.aborted; first += PAGE) {
      const { items } = await session.messages({
        beforeSequence: Math.min(first + PAGE, info.messages + 1),
        limit: PAGE,
      });
      for (const message of items.filter(({ sequence }) => sequence >= first)) {
        for (const line of formatMessage(message, outStyle, out.width)) await out.line(line);
      }
    }
    return exitCodes.completed;
  });
}

function head(info: SessionInfo): readonly string[] {
  const { id, agentId, workspace, createdAt, turn, usage, revision, readOnly, title, modelLabel, parent } = info;
  const { timezone, archivedAt } = info;
  return [
    ...(title === null ? [] : [visible(title)]),
    `session ${visible(id)} of the agent ${visible(agentId)}${workspace === null ? '' : ` in ${visible(workspace)}`}`,
    `since ${new Date(createdAt).toISOString()}${timezone === null ? '' : ` (${visible(timezone)})`}, ` +
      `revision ${revision}, ` +
      `${usage.totalTokens} tokens${modelLabel === null ? '' : `, last answered by ${visible(modelLabel)}`}`,
    ...(parent === null ? [] : [`it works for the session ${visible(parent)}`]),
    ...(archivedAt === null
      ? []
      : [`archived since ${new Date(archivedAt).toISOString()}: perdure sessions restore ${visible(id)}`]),
    ...(turn === null ? [] : [`its last turn has not ended: perdure resume ${visible(id)}`]),
    ...(readOnly === null
      ? []
      : [`this build can only read it: it holds ${readOnly.type} at revision ${readOnly.revision}`]),
    '',
  ];
}
