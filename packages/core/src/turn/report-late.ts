import type { PayloadOf } from '@perdure/events';
import type { Ownership } from '../session/ownership.js';
import { NODE } from './record-intent.js';
import type { SessionWork } from './session-work.js';

/** Tells what a call came to after the session was lost. It settles nothing, and people and models see it. */
export async function reportLate(
  { journal, lease }: SessionWork,
  held: Ownership,
  { callId, status, output, failure }: PayloadOf<'ToolCallSettled'>,
): Promise<void> {
  if (status !== 'completed' && status !== 'failed') return;
  const error = failure === undefined ? {} : { error: { code: failure.code, message: failure.message } };
  const result = output === undefined ? error : { output, ...error };
  const late = { callId, status, epoch: held.epoch, node: lease.node, ...result };
  await journal.commit((batch) => batch.add('LateResultReported', late, {}, NODE), 'input');
}
