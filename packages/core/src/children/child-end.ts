import { noUsage, type PayloadOf } from '@perdure/events';
import { errorMessage, isPerdureError, type TurnResult } from '@perdure/plugin-api';
import { safeCut } from '../invoke/output-excerpt.js';
import type { ChildState } from '../session/child-state.js';
import type { LoadedSession } from '../session/loaded-session.js';
import type { FactListener } from '../session/turn-waiters.js';
import type { SessionWork } from '../turn/session-work.js';

/** Milliseconds before a child that could not be followed here is looked at again, at first and at the most. */
const PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;
/** Characters that are kept of a child's answer: of its beginning and of its end. */
const HEAD = 3_000;
const TAIL = 800;

/**
 * Waits for the end of a child by its own stream, wherever it is run, and tells it as the fact of the parent. One that
 * is erased has ended with that. Rejects when the signal aborts, and with errors that no further try would mend: what
 * else fails here may go on elsewhere. `onFacts` is told what the child commits meanwhile.
 */
export async function endOfChild(
  child: ChildState,
  { key, journal, children }: Pick<SessionWork, 'key' | 'journal' | 'children'>,
  signal: AbortSignal,
  onFacts?: FactListener,
): Promise<PayloadOf<'ChildEnded'>> {
  for (let tries = 0; ; tries++) {
    signal.throwIfAborted();
    try {
      const home = children.home(child, key, journal.state);
      const watch = watchEnd(signal, onFacts);
      const { finished } = await home.use(async (loaded) => {
        await loaded.work.journal.refresh();
        const isErased = loaded.work.journal.state.isErased;
        return { finished: isErased ? undefined : loaded.finished(child.delegation.turnId, watch.onFacts) };
      });
      if (finished === undefined) return erasedEnd(child);
      const result = await unlessAborted(Promise.race([finished, watch.erased]), signal);
      if (result === 'erased') return erasedEnd(child);
      if (result.status !== 'suspended') {
        const end = await home.use((loaded) => endFact(child, result, loaded));
        home.rest();
        return end;
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!maySucceed(error)) throw error;
    }
    await unlessAborted(pause(Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** Math.min(tries, 16))), signal);
  }
}

/** Tells facts on, and of the erasure, behind which no turn ends any more. */
function watchEnd(signal: AbortSignal, onFacts: FactListener | undefined) {
  let tell: (erased: 'erased') => void = () => undefined;
  const erased = new Promise<'erased'>((resolve) => (tell = resolve));
  const listener: FactListener = (facts, lookup) => {
    if (facts.some(({ type }) => type === 'SessionErased')) tell('erased');
    if (!signal.aborted) onFacts?.(facts, lookup);
  };
  return { erased, onFacts: listener };
}

/**
 * Whether another try may find the child: one that left this process is opened again, what this node lacks another one
 * may have, and a store or a lease that failed may come back. What is wrong with the child itself stays so.
 */
function maySucceed(error: unknown): boolean {
  if (!isPerdureError(error)) return true;
  return error.entry.kind !== 'caller' || error.code === 'PERDURE_SESSION_CLOSED';
}

function endFact(child: ChildState, result: TurnResult, loaded: LoadedSession): PayloadOf<'ChildEnded'> {
  const { status, text, error, usage } = result;
  const { erase, isErased, descendants } = loaded.work.journal.state;
  if (isErased || (erase !== undefined && status === 'cancelled')) return erasedEnd(child, result);
  return {
    ...aboutEnd(child),
    status: status === 'suspended' ? 'failed' : status,
    ...shortened(text),
    ...(error === undefined ? {} : { failure: error }),
    usage,
    descendants,
  };
}

/** The end of a child that is erased. How many it started nobody knows: as many as it might. */
function erasedEnd(
  child: ChildState,
  { text, usage }: Pick<TurnResult, 'text' | 'usage'> = { text: '', usage: noUsage },
): PayloadOf<'ChildEnded'> {
  return {
    ...aboutEnd(child),
    status: 'failed',
    ...shortened(text),
    failure: erasedFailure(child.childId),
    usage,
    descendants: child.delegation.quota,
  };
}

function aboutEnd({ childId, delegation: { callId }, profile: { agent } }: ChildState) {
  return { childId, callId, agent };
}

/** Why a child that is erased did not do its work. */
export function erasedFailure(session: string) {
  const code = 'PERDURE_SESSION_ERASED';
  return { code, message: errorMessage(code, { session }) };
}

/** The beginning and the end of a text that is too long to be repeated. */
export function shortened(text: string): { readonly text: string; readonly characters: number } {
  const { length: characters } = text;
  if (characters <= HEAD + TAIL) return { text, characters };
  const gap = `\n[… ${characters - HEAD - TAIL} characters left out …]\n`;
  return {
    text: `${text.slice(0, safeCut(text, HEAD))}${gap}${text.slice(safeCut(text, characters - TAIL))}`,
    characters,
  };
}

/** Rejects with the signal's reason when it aborts first. */
export function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const end = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}

/**
 * Works on a child that may be leaving this process: where it was closed meanwhile, it is opened again. Rejects when
 * the signal aborts first.
 */
export async function unlessClosed<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isPerdureError(error, 'PERDURE_SESSION_CLOSED')) throw error;
    }
    await unlessAborted(pause(PAUSE_MS), signal);
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
