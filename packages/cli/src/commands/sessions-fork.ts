import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { collectionOf } from '../sessions/recorded-session.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import { revisionOf, sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface SessionsForkFlags extends SessionsFlags {
  readonly at?: string;
  readonly session?: string;
}

/** `perdure sessions fork ID`: prints the id of the new session. */
export function sessionsFork(context: CliContext, id: string, flags: SessionsForkFlags): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const key = sessionKey(id, flags);
    const sessions = await collectionOf(runtime, key);
    const fork = await sessions.fork(id, {
      ...(flags.at === undefined ? {} : { at: revisionOf('--at', flags.at) }),
      ...(flags.session === undefined ? {} : { sessionId: flags.session }),
    });
    const { forkedFrom } = await fork.info();
    const { out } = context.screen;
    await out.line(context.json ? jsonText({ session: fork.id, forkedFrom }) : visible(fork.id));
    return exitCodes.completed;
  });
}
