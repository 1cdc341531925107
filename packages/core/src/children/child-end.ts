import type { PayloadOf } from '@perdure/events';
import { isPerdureError, type TurnResult } from '@perdure/plugin-api';
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
 * Waits for the end of a child by its own stream, wherever it is run, and tells it as the fact of the parent. Rejects
 * when the signal aborts, and for no other reason: what fails here may go on elsewhere. `onFacts` is told what the
 * child commits meanwhile.
 */
export async function endOfChild(
  child: ChildState,
  { key, journal, children }: Pick<SessionWork, 'key' | 'journal' | 'children'>,
  signal: AbortSignal,
  onFacts?: FactListener,
): Promise<PayloadOf<'ChildEnded'>> {
  const listener: FactListener = (facts, lookup) => {
    if (!signal.aborted) onFacts?.(facts, lookup);
  };
  for (let tries = 0; ; tries++) {
    signal.throwIfAborted();
    try {
      const home = children.home(child, key, journal.state);
      const { turnId } = child.delegation;
      const { finished } = await home.use((loaded) => ({ finished: loaded.finished(turnId, listener) }));
      const result = await unlessAborted(finished, signal);
      if (result.status !== 'suspended') {
        const end = await home.use((loaded) => endFact(child, result, loaded));
        home.rest();
        return end;
      }
    } catch {
      signal.throwIfAborted();
    }
    await unlessAborted(pause(Math.min(LONGEST_PAUSE_MS, PAUSE_MS * 2 ** Math.min(tries, 16))), signal);
  }
}

function endFact(
  { childId, delegation: { callId }, profile: { agent } }: ChildState,
  { status, text, error, usage }: TurnResult,
  loaded: LoadedSession,
): PayloadOf<'ChildEnded'> {
  return {
    childId,
    callId,
    agent,
    status: status === 'suspended' ? 'failed' : status,
    ...shortened(text),
    ...(error === undefined ? {} : { failure: error }),
    usage,
    descendants: loaded.work.journal.state.descendants,
  };
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
