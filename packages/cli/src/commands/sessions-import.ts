import { restoreStream } from '@perdure/core';
import { PerdureError } from '@perdure/plugin-api';
import type { CliContext } from '../cli-context.js';
import { DEFAULT_AGENT } from '../config/agent-options.js';
import { resolveSettings } from '../config/settings.js';
import { exitCodes } from '../exit-code.js';
import { openStore } from '../runtime/open-runtime.js';
import { keyOfFacts, openExchangeFile, type ExchangeFile } from '../sessions/exchange-file.js';
import { jsonText } from '../terminal/json-text.js';
import { visible } from '../terminal/visible.js';
import type { SessionsFlags } from './sessions-flags.js';

export interface SessionsImportFlags extends SessionsFlags {
  readonly id?: string;
}

/** What an import came to. */
interface Imported {
  readonly session: string;
  readonly kind: 'snapshot' | 'facts';
  readonly messages?: number;
  /** Facts of the stream, and how many of them were not there. */
  readonly facts?: number;
  readonly added?: number;
}

/** `perdure sessions import FILE`: a session of a snapshot, or a stream as it was exported. */
export async function sessionsImport(context: CliContext, path: string, flags: SessionsImportFlags): Promise<number> {
  const file = await openExchangeFile(path);
  const imported = file.kind === 'facts' ? await restore(context, file, flags) : await adopt(context, file, flags);
  const { out } = context.screen;
  await out.line(context.json ? jsonText(imported) : told(imported));
  return exitCodes.completed;
}

async function restore(
  { logger }: CliContext,
  { header, facts }: Extract<ExchangeFile, { kind: 'facts' }>,
  flags: SessionsImportFlags,
): Promise<Imported> {
  if (flags.id !== undefined && flags.id !== header.session) {
    const reason = `the facts are those of "${header.session}", and their chain holds its name`;
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: '--id', reason });
  }
  const key = keyOfFacts(header, flags.tenant);
  const runtime = await openStore(await resolveSettings(flags), logger);
  try {
    const { revision, hash } = header;
    const restored = await restoreStream(runtime.services.store, key, { revision, hash, facts });
    return { session: key.id, kind: 'facts', facts: restored.facts, added: restored.added };
  } finally {
    await runtime.dispose();
  }
}

async function adopt(
  { logger }: CliContext,
  { value }: Extract<ExchangeFile, { kind: 'snapshot' }>,
  { id, tenant, ...place }: SessionsImportFlags,
): Promise<Imported> {
  const settings = await resolveSettings(place);
  const runtime = await openStore(settings, logger);
  try {
    const agent = runtime.agent({
      id: settings.config.agent?.id ?? DEFAULT_AGENT,
      workspace: settings.workspace,
      ...(tenant === undefined ? {} : { tenant }),
    });
    const session = await agent.sessions.import(value, id === undefined ? {} : { sessionId: id });
    const { messages } = await session.info();
    return { session: session.id, kind: 'snapshot', messages };
  } finally {
    await runtime.dispose();
  }
}

function told({ session, kind, messages = 0, facts = 0, added = 0 }: Imported): string {
  const what = kind === 'snapshot' ? `${messages} messages` : `${facts} facts, ${added} of them added`;
  return `imported ${visible(session)}: ${what}`;
}
