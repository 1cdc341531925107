import type { EventEnvelopeV1 } from '@perdure/events';
import type { Session } from '@perdure/plugin-api';

/**
 * The events from the first fact behind a revision on, then what comes. The past is read too and passed over, because
 * cursors are made by readers alone; parts of it may come without a revision, as the draft of an answer does.
 */
export async function* eventsAfter(session: Session, revision: number): AsyncGenerator<EventEnvelopeV1> {
  let isPast = true;
  for await (const event of session.events()) {
    const at = event.metadata?.['revision'];
    isPast &&= typeof at !== 'number' || at <= revision;
    if (!isPast) yield event;
  }
}
