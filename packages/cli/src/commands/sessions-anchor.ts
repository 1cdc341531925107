import { takeAnchor } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { jsonText } from '../terminal/json-text.js';
import { openTarget } from '../terminal/open-target.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface OutFlags extends SessionsFlags {
  readonly out?: string;
}

/** `perdure sessions anchor ID`: the end of the chain as it is now, to keep somewhere else. */
export function sessionsAnchor(context: CliContext, id: string, flags: OutFlags): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const anchor = await takeAnchor(runtime.services.store, sessionKey(id, flags));
    const target = openTarget(flags.out, context.screen.out);
    await target.line(jsonText(anchor));
    await target.close();
    return exitCodes.completed;
  });
}
