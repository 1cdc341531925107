import { isPerdureError, type EraseOptions, type Erasure } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { collectionOf } from '../sessions/recorded-session.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface SessionsEraseFlags extends SessionsFlags {
  readonly cascade?: true;
  readonly reason?: string;
}

/** `perdure sessions erase ID`: prints the ids of the sessions that are gone. */
export function sessionsErase(context: CliContext, id: string, flags: SessionsEraseFlags): Promise<number> {
  const { cascade = false, reason } = flags;
  return erase(context, id, flags, { cascade, ...(reason === undefined ? {} : { reason }) });
}

/** `perdure sessions remove ID`: the same, for one that may not be there. */
export async function sessionsRemove(context: CliContext, id: string, flags: SessionsFlags): Promise<number> {
  try {
    return await erase(context, id, flags, {});
  } catch (error) {
    if (!isPerdureError(error, 'PERDURE_SESSION_NOT_FOUND')) throw error;
    return show(context, { sessions: [] });
  }
}

function erase(context: CliContext, id: string, flags: SessionsFlags, options: EraseOptions): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const sessions = await collectionOf(runtime, sessionKey(id, flags));
    return show(context, await sessions.erase(id, options));
  });
}

async function show({ screen, json }: CliContext, erasure: Erasure): Promise<number> {
  if (json) await screen.out.line(jsonText(erasure));
  else for (const session of erasure.sessions) await screen.out.line(`erased ${visible(session)}`);
  return exitCodes.completed;
}
