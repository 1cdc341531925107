import { readFile } from 'node:fs/promises';
import { PerdureError, reasonOf } from '@perdure/plugin-api';
import { parseAnchor, verifySession, type Anchor } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { requireRecorded } from '../sessions/recorded-session.js';
import { jsonText } from '../terminal/json-text.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface SessionsVerifyFlags extends SessionsFlags {
  readonly anchor?: string;
}

/** `perdure sessions verify ID`: every stored byte against the chain, and the chain against an anchor. */
export async function sessionsVerify(context: CliContext, id: string, flags: SessionsVerifyFlags): Promise<number> {
  const anchor = flags.anchor === undefined ? undefined : await readAnchor(flags.anchor);
  return withStore(context, flags, async (runtime) => {
    const key = sessionKey(id, flags);
    await requireRecorded(runtime, key);
    const verified = await verifySession(runtime.services.store, key, anchor);
    const { out, outStyle } = context.screen;
    if (context.json) {
      await out.line(jsonText({ ...verified, anchor: anchor ?? null }));
      return exitCodes.completed;
    }
    const { facts, revision, hash } = verified;
    await out.line(`${outStyle.green('verified')}: ${facts} facts, each whole and linked to the one before it`);
    await out.line(`last revision ${revision}, hash ${hash}`);
    if (anchor !== undefined) await out.line(`the anchor at revision ${anchor.revision} is part of this chain`);
    return exitCodes.completed;
  });
}

async function readAnchor(file: string): Promise<Anchor> {
  try {
    return parseAnchor(await readFile(file, 'utf8'));
  } catch (error) {
    if (error instanceof PerdureError) throw error;
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: '--anchor', reason: reasonOf(error) }, { cause: error });
  }
}
