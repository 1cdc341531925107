import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { openForReading } from '../sessions/recorded-session.js';
import { formatMessage } from '../sessions/transcript.js';
import { jsonText } from '../terminal/json-text.js';
import { revisionOf, sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

/** `perdure sessions at ID REVISION`: the transcript as it was. */
export function sessionsAt(context: CliContext, id: string, revision: string, flags: SessionsFlags): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const session = await openForReading(runtime, sessionKey(id, flags));
    const view = await session.at(revisionOf('revision', revision));
    const info = view.info();
    const { items } = view.messages({ limit: Math.max(1, info.messages) });
    const { out, outStyle } = context.screen;
    if (context.json) {
      await out.line(jsonText({ session: info, messages: items, interactions: view.interactions() }));
      return exitCodes.completed;
    }
    await out.line(outStyle.dim(`revision ${view.revision}, ${new Date(view.time).toISOString()}, hash ${view.hash}`));
    for (const message of items) {
      for (const line of formatMessage(message, outStyle, out.width)) await out.line(line);
    }
    return exitCodes.completed;
  });
}
