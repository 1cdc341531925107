import { noUsage, type EventEnvelopeV1 } from '@perdure/events';
import { isPerdureError, reasonOf, type TurnResult, type TurnStream } from '@perdure/plugin-api';
import type { RanCommand } from '../commands/run-command.js';
import { readEvents } from '../live/event-reader.js';
import type { AcceptedPrompt } from './accept-input.js';
import { eventSource } from './event-source.js';
import type { LoadedSession } from './loaded-session.js';
import type { SessionHome } from './session-home.js';

/** Something that was accepted: the last revision before it, and which event is its last. */
export interface Streamed {
  readonly from: number;
  /** There is nothing to be told of it any more. */
  readonly isOver?: boolean;
  /** Where it was accepted: when that failed, nobody knows here that it goes on. */
  readonly begunIn?: LoadedSession;
  readonly isEnd: (event: EventEnvelopeV1, loaded: LoadedSession) => boolean;
}

/** How a turn is streamed. A known one is told from its run on, or from its prompt if its run has a name. */
export function streamedTurn(begunIn: LoadedSession, { turnId, isKnown }: AcceptedPrompt, before: number): Streamed {
  const { index } = begunIn;
  const turn = isKnown ? index.turn(turnId) : undefined;
  const first = turn?.chosen?.revision ?? turn?.runs[0]?.first;
  return {
    begunIn,
    from: first === undefined ? before : first - 1,
    isOver: first === undefined && index.resultOf(turnId) !== undefined,
    isEnd: ({ type, metadata }, loaded) => {
      const isLast = type === 'agent_end' || type === 'error' || type === 'prompt_cancelled';
      return isLast && metadata?.['turn_id'] === turnId && loaded.index.resultOf(turnId) !== undefined;
    },
  };
}

/** How a command is streamed. */
export function streamedCommand({ commandId, from }: RanCommand): Streamed {
  return {
    from,
    isEnd: ({ type, payload }) => type === 'command_ran' && payload['command_id'] === commandId,
  };
}

/**
 * The events of one turn, from its acceptance to its end. The turn runs whether or not anyone reads; a refusal is
 * thrown to the reader and told by `finished`, which always resolves.
 */
export function turnStream(
  home: SessionHome,
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
  return { finished, [Symbol.asyncIterator]: () => readTurn(accepted, home) };
}

async function* readTurn(
  accepted: Promise<Streamed>,
  home: SessionHome,
): AsyncGenerator<EventEnvelopeV1, void, undefined> {
  const { from, isOver = false, isEnd, begunIn } = await accepted;
  if (isOver) return;
  const { id } = home.key;
  const held = home.hold();
  try {
    const loaded = await held.loaded;
    loaded.follow();
    const { over } = begunIn?.failure === undefined ? loaded : begunIn;
    for await (const event of readEvents(eventSource(loaded), { revision: from }, { over })) {
      const { session_id: ofSession = id } = event.metadata ?? {};
      if (ofSession !== id) continue;
      yield event;
      if (isEnd(event, loaded)) return;
    }
  } finally {
    held.release();
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
