import type { JsonValue } from '@perdure/events';
import type { ToolOutcome } from '@perdure/plugin-api';
import { callIdOf } from '../invoke/call-id.js';
import type { HostWork } from '../session/host-calls.js';
import { invocationContextOf } from './invocation-context-of.js';
import { makeSideCall } from './side-call.js';

/**
 * Makes a call that the host asks for itself, on the node that owns the session, beside the turn that may run. A
 * trusted call passes by the gates that guard against the model; a governed one sees all, and may wait for a person.
 */
export function hostCall(name: string, input: JsonValue, isTrusted: boolean): HostWork<ToolOutcome> {
  return (work, held, signal) => {
    const id = work.env.idGenerator.next(`${work.key.id}-${held.epoch}-call`);
    const callId = callIdOf(work.key.id, `host-${id}`, 0);
    const context = invocationContextOf(work, work.journal.state, signal, false);
    const plane = isTrusted ? ('trusted' as const) : ('governed' as const);
    const agent = work.agent();
    const end = agent.parts.hold();
    return makeSideCall(
      { callId, name, input, origin: 'host', plane, isTrusted, within: [] },
      { work, held, agent, context, isHandingOver: () => false },
    ).finally(end);
  };
}
