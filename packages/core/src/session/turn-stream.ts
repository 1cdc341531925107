import { noUsage, type EventEnvelopeV1 } from '@perdure/events';
import { isPerdureError, reasonOf, type TurnResult, type TurnStream } from '@perdure/plugin-api';
import { readEvents } from '../live/event-reader.js';
import type { LoadedSession } from './loaded-session.js';

/** A turn that was accepted, and the last revision before it. */
export interface AcceptedTurn {
  readonly loaded: LoadedSession;
  readonly turnId: string;
  readonly from: number;
}

/**
 * The events of one turn, from its acceptance to its end. The turn runs whether or not anyone reads; a refusal is
 * thrown to the reader and told by `finished`, which always resolves.
 */
export function turnStream(
  session: string,
  begin: (accepted: (turn: AcceptedTurn) => void) => Promise<TurnResult>,
): TurnStream {
  let accept: (turn: AcceptedTurn) => void = () => undefined;
  let refuse: (error: unknown) => void = () => undefined;
  const accepted = new Promise<AcceptedTurn>((resolve, reject) => {
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
  accepted: Promise<AcceptedTurn>,
  session: string,
): AsyncGenerator<EventEnvelopeV1, void, undefined> {
  const { loaded, turnId, from } = await accepted;
  for await (const event of readEvents(loaded.eventSource(), { revision: from }, { over: loaded.over })) {
    const { session_id: ofSession = session, turn_id: ofTurn } = event.metadata ?? {};
    if (ofSession !== session) continue;
    yield event;
    const isEnd = event.type === 'agent_end' || event.type === 'error' || event.type === 'prompt_cancelled';
    if (isEnd && ofTurn === turnId && loaded.index.resultOf(turnId) !== undefined) return;
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
