import type { PerdureRuntime } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { openAgentOf } from '../sessions/recorded-session.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface SessionsArchiveFlags extends SessionsFlags {
  readonly reason?: string;
}

type OwnAgent = Awaited<ReturnType<typeof openAgentOf>>;

/** `perdure sessions archive ID`: puts a session away, whoever has it. */
export function sessionsArchive(context: CliContext, id: string, flags: SessionsArchiveFlags): Promise<number> {
  return change(context, id, flags, 'archived', (agent) => agent.sessions.archive(id, flags.reason));
}

/** `perdure sessions restore ID`: brings it back. */
export function sessionsRestore(context: CliContext, id: string, flags: SessionsFlags): Promise<number> {
  return change(context, id, flags, 'restored', (agent) => agent.sessions.restore(id));
}

function change(
  context: CliContext,
  id: string,
  flags: SessionsFlags,
  done: 'archived' | 'restored',
  make: (agent: OwnAgent) => Promise<void>,
): Promise<number> {
  return withStore(context, flags, async (runtime: PerdureRuntime) => {
    await make(await openAgentOf(runtime, sessionKey(id, flags)));
    const { out } = context.screen;
    await out.line(context.json ? jsonText({ session: id, [done]: true }) : `${done} ${visible(id)}`);
    return exitCodes.completed;
  });
}
