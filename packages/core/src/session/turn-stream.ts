import { noUsage, type EventEnvelopeV1 } from '@perdure/events';
import { isPerdureError, reasonOf, type TurnResult, type TurnStream } from '@perdure/plugin-api';
import type { RanCommand } from '../commands/run-command.js';
import { readEvents } from '../live/event-reader.js';
import type { AcceptedPrompt } from './accept-input.js';
import type { LoadedSession } from './loaded-session.js';

/** Something that was accepted: the last revision before it, and which event is its last. */
export interface Streamed {
  readonly loaded: LoadedSession;
  readonly from: number;
  /** There is nothing to be told of it any more. */
  readonly isOver?: boolean;
  readonly isEnd: (event: EventEnvelopeV1) => boolean;
}

/** How a turn is streamed. A known one is told from its run on, or from its prompt if its run has a name. */
export function streamedTurn(loaded: LoadedSession, { turnId, isKnown }: AcceptedPrompt, before: number): Streamed {
  const { index } = loaded;
  const turn = isKnown ? index.turn(turnId) : undefined;
  const first = turn?.chosen?.revision ?? turn?.runs[0]?.first;
  return {
    loaded,
    from: first === undefined ? before : first - 1,
    isOver: first === undefined && index.resultOf(turnId) !== undefined,
    isEnd: ({ type, metadata }) => {
      const isLast = type === 'agent_end' || type === 'error' || type === 'prompt_cancelled';
      return isLast && metadata?.['turn_id'] === turnId && index.resultOf(turnId) !== undefined;
    },
  };
}

/** How a command is streamed. */
export function streamedCommand(loaded: LoadedSession, { commandId, from }: RanCommand): Streamed {
  return {
    loaded,
    from,
    isEnd: ({ type, payload }) => type === 'command_ran' && payload['command_id'] === commandId,
  };
}

/**
 * The events of one turn, from its acceptance to its end. The turn runs whether or not anyone reads; a refusal is
 * thrown to the reader and told by `finished`, which always resolves.
 */
export function turnStream(
  session: string,
  begin: (accepted: (turn: Streamed) => void) => Promise<TurnResult>,
): TurnStream {
  let accept: (turn: Streamed) => void = () => undefined;
  let refuse: (error: unknown) => void = () => undefined;
  const accepted = new Promise<Streamed>((resolve, reject) => {
    accept = resolve;
    refuse = reject;
  });
  accepted.catch(() => undefined);
  const finished = begin((turn) => accept(turn)).catch((error: unknown): TurnResult => {
    refuse(error);
    return refused(error);
  });
  return { finished, [Symbol.asyncIterator]: () => readTurn(accepted, session) };
}

async function* readTurn(
  accepted: Promise<Streamed>,
  session: string,
): AsyncGenerator<EventEnvelopeV1, void, undefined> {
  const { loaded, from, isOver = false, isEnd } = await accepted;
  if (isOver) return;
  for await (const event of readEvents(loaded.eventSource(), { revision: from }, { over: loaded.over })) {
    const { session_id: ofSession = session } = event.metadata ?? {};
    if (ofSession !== session) continue;
    yield event;
    if (isEnd(event)) return;
  }
}

function refused(error: unknown): TurnResult {
  const code = isPerdureError(error) ? error.code : 'PERDURE_INTERNAL';
  const message = reasonOf(error);
  return {
    success: false,
    status: 'failed',
    text: '',
    error: { code, message },
    usage: noUsage,
    turnId: '',
    runId: null,
  };
}
