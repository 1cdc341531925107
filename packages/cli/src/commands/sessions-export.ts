import { loadSession, sessionSnapshot } from '@perdure/core';
import { sessionStream } from '@perdure/events';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { readFacts } from '../sessions/read-facts.js';
import { requireRecorded } from '../sessions/recorded-session.js';
import { jsonText } from '../terminal/json-text.js';
import { openTarget } from '../terminal/open-target.js';
import type { OutFlags } from './sessions-anchor.js';
import { sessionKey } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface SessionsExportFlags extends OutFlags {
  readonly facts?: boolean;
}

/** `perdure sessions export ID`: the session in its exchange form, and behind it every stored fact to the letter. */
export function sessionsExport(context: CliContext, id: string, flags: SessionsExportFlags): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const key = sessionKey(id, flags);
    await requireRecorded(runtime, key);
    const { store, facts } = runtime.services;
    const snapshot = sessionSnapshot(key, await loadSession(store, sessionStream(key), facts));
    const target = openTarget(flags.out, context.screen.out);
    await target.line(jsonText(snapshot, flags.facts === true ? undefined : 2));
    if (flags.facts === true) {
      for await (const fact of readFacts(store, key, { from: 0, until: snapshot.session.revision })) {
        if (target.isClosed) break;
        await target.line(jsonText(fact));
      }
    }
    await target.close();
    return exitCodes.completed;
  });
}
