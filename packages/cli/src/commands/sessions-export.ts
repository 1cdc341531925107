import { loadSession, takeSnapshot } from '@perdure/core';
import { sessionStream } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { factLine, factsHeader } from '../sessions/exchange-file.js';
import { readFacts } from '../sessions/read-facts.js';
import { requireRecorded } from '../sessions/recorded-session.js';
import { jsonText } from '../terminal/json-text.js';
import { openTarget } from '../terminal/open-target.js';
import type { OutFlags } from './sessions-anchor.js';
import { sessionKey } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface SessionsExportFlags extends OutFlags {
  readonly format?: 'snapshot' | 'facts';
  readonly facts?: boolean;
}

/** `perdure sessions export ID`: the session in its exchange form, or every stored fact to the letter. */
export function sessionsExport(context: CliContext, id: string, flags: SessionsExportFlags): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const key = sessionKey(id, flags);
    await requireRecorded(runtime, key);
    const { store, facts } = runtime.services;
    const folded = await loadSession(store, sessionStream(key), facts);
    if (folded.state.isErased) throw new PerdureError('PERDURE_SESSION_ERASED', { session: id });
    const target = openTarget(flags.out, context.screen.out);
    if (flags.facts === true || flags.format === 'facts') {
      const { revision, hash } = folded;
      await target.line(jsonText(factsHeader(key, revision, hash)));
      for await (const fact of readFacts(store, key, { from: 0, until: revision })) {
        if (target.isClosed) break;
        await target.line(factLine(fact));
      }
    } else {
      await target.line(jsonText(await takeSnapshot({ store, facts }, key, folded), 2));
    }
    await target.close();
    return exitCodes.completed;
  });
}
