import { PerdureError } from '@perdure/plugin-api';
import type { PerdureRuntime } from '@perdure/runtime';
import type { CliContext } from '../cli-context.js';
import { exitCodes } from '../exit-code.js';
import { followFacts, readFacts, showFact } from '../sessions/read-facts.js';
import { openForReading, requireRecorded } from '../sessions/recorded-session.js';
import { jsonText } from '../terminal/json-text.js';
import type { Output } from '../terminal/output.js';
import { visible, visibleLine } from '../terminal/visible.js';
import { untilInterrupted } from '../turn/process-signals.js';
import { sessionKey, type SessionsFlags } from './sessions-flags.js';
import { withStore } from './with-store.js';

export interface SessionsEventsFlags extends SessionsFlags {
  readonly from?: string;
  readonly follow?: boolean;
  readonly facts?: boolean;
}

/** `perdure sessions events ID`: the session's events, or with `--facts` what is stored. */
export function sessionsEvents(context: CliContext, id: string, flags: SessionsEventsFlags): Promise<number> {
  return withStore(context, flags, async (runtime) => {
    const interrupted = untilInterrupted();
    const signal = AbortSignal.any([interrupted.signal, context.screen.out.closed]);
    try {
      if (flags.facts === true) await showFacts(context, runtime, id, flags, signal);
      else await showEvents(context, runtime, id, flags, signal);
      return interrupted.signal.aborted ? exitCodes.interrupted : exitCodes.completed;
    } finally {
      interrupted.dispose();
    }
  });
}

async function showEvents(
  { screen: { out, outStyle }, json }: CliContext,
  runtime: PerdureRuntime,
  id: string,
  { from, follow, ...flags }: SessionsEventsFlags,
  signal: AbortSignal,
): Promise<void> {
  const session = await openForReading(runtime, sessionKey(id, flags));
  const events = session.events({ signal, ...(from === undefined ? {} : { from }) })[Symbol.asyncIterator]();
  let next = events.next();
  // A session that is closed gives its readers what is stored, and then ends them.
  if (follow !== true) await Promise.all([next, session.close()]);
  for (let event = await next; event.done !== true && !signal.aborted; event = await next) {
    const { type, payload, metadata } = event.value;
    const cursor = visible(String(metadata?.['cursor'] ?? '')).padEnd(8);
    const shown = `${outStyle.dim(cursor)} ${outStyle.bold(visible(type))}  ${cut(jsonText(payload), out)}`;
    await out.line(json ? jsonText(event.value) : shown);
    next = events.next();
  }
}

async function showFacts(
  { screen: { out, outStyle }, json }: CliContext,
  runtime: PerdureRuntime,
  id: string,
  { from, follow, ...flags }: SessionsEventsFlags,
  signal: AbortSignal,
): Promise<void> {
  const key = sessionKey(id, flags);
  const { store } = runtime.services;
  await requireRecorded(runtime, key);
  const first = revisionOf(from);
  const facts = follow === true ? followFacts(store, key, first, signal) : readFacts(store, key, { from: first });
  for await (const fact of facts) {
    if (signal.aborted) return;
    const shown = showFact(fact);
    if (json) {
      await out.line(jsonText(shown));
      continue;
    }
    const time = shown.time === null ? '?'.padEnd(24) : new Date(shown.time).toISOString();
    const about = `${String(shown.revision).padStart(6)}  ${time}  ${(shown.hash ?? '?').slice(0, 12)}`;
    const payload = cut(jsonText(shown.payload), out);
    await out.line(`${outStyle.dim(about)}  ${outStyle.bold(visible(shown.type).padEnd(17))}  ${payload}`);
  }
}

/** On a terminal a payload is shown by its beginning; a pipe gets all of it. */
function cut(payload: string, out: Output): string {
  return visibleLine(payload, out.isTerminal ? 2 * out.width : Number.POSITIVE_INFINITY);
}

function revisionOf(from: string | undefined): number {
  if (from === undefined) return 0;
  if (/^\d{1,15}$/.test(from)) return Number(from);
  throw new PerdureError('PERDURE_INPUT_INVALID', { field: '--from', reason: 'with --facts it is a revision' });
}
