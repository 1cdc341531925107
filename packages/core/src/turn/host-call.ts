import { errorMessage, type ToolOutcome } from '@perdure/plugin-api';
import type { JsonValue, PayloadOf } from '@perdure/events';
import { callIdOf } from '../invoke/call-id.js';
import { askGate, decideCall, type CallDecision } from '../invoke/decide-call.js';
import { denial } from '../invoke/gates/gate-step.js';
import { APPROVAL_GATE } from '../invoke/gates/permission-gates.js';
import { draftFact, type FactBatch } from '../session/fact-batch.js';
import { assertOwner, type Ownership } from '../session/ownership.js';
import type { CallState } from '../session/session-state.js';
import { startCall } from './call-runner.js';
import { invocationContextOf } from './invocation-context-of.js';
import { decisionPayload, NODE, recordIntent, type RecordContext } from './record-intent.js';
import type { SessionWork } from './session-work.js';

/**
 * Makes a call that the host asks for itself, on the node that owns the session, beside the turn that may run. A
 * trusted call passes by the gates that guard against the model; all others see it.
 */
export async function hostCall(
  name: string,
  input: JsonValue,
  isTrusted: boolean,
  work: SessionWork,
  held: Ownership,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const id = work.env.idGenerator.next(`${work.key.id}-${held.epoch}-call`);
  const callId = callIdOf(work.key.id, `host-${id}`, 0);
  const call: CallState = {
    callId,
    name,
    origin: 'host',
    input: work.redaction.redact(input),
    invalidInput: undefined,
    decision: undefined,
    started: undefined,
    settled: undefined,
  };
  const agent = work.agent();
  const context = invocationContextOf(work, work.journal.state, signal, false);
  const decision = withoutAsking(
    name,
    await decideCall(call, agent.governance(context.workspace, isTrusted), context, askGate),
  );
  const decided = draftFact(
    'ToolCallDecided',
    decisionPayload(call, decision, agent.policy),
    {},
    NODE,
    held.epoch,
    work.batchContext,
  );
  const owned = <Result>(decide: (batch: FactBatch) => Result): Promise<Result> =>
    work.journal.commit((batch) => {
      assertOwner(batch, held, work.key.id);
      return decide(batch);
    }, 'owner');
  const started = await owned((batch) => {
    for (const hit of decision.hits) batch.add('BudgetThresholdHit', hit, {}, NODE);
    batch.keep(decided);
    const open = batch.state.hostCalls.find((each) => each.callId === callId);
    if (open === undefined) return undefined;
    const isDenied = decision.decision === 'deny';
    const intent = isDenied
      ? ({ do: 'settle-denied', call: open } as const)
      : ({ do: 'start-call', call: open, attempt: 1 } as const);
    recordIntent(batch, intent, hostContext(work));
    return isDenied ? undefined : batch.state.hostCalls.find((each) => each.callId === callId);
  });
  if (started === undefined) {
    const denied = decided.payload.gates.find((gate) => gate.decision === 'deny');
    const code = denied?.code ?? 'PERDURE_TOOL_DENIED';
    return {
      callId,
      name,
      status: 'denied',
      failure: { code, message: denied?.reason ?? errorMessage('PERDURE_TOOL_DENIED', { tool: name }) },
    };
  }
  const running = startCall(started, agent, work, context);
  await running.ended;
  const outcome: PayloadOf<'ToolCallSettled'> = running.outcome ?? {
    callId,
    status: 'unknown',
    endedAt: work.env.clock.now(),
  };
  const settled = draftFact('ToolCallSettled', outcome, {}, NODE, held.epoch, work.batchContext);
  await owned((batch) => batch.keep(settled));
  const { output, artifact, failure, status } = settled.payload;
  return {
    callId,
    name,
    status,
    ...(output === undefined ? {} : { output }),
    ...(artifact === undefined ? {} : { artifact }),
    ...(failure === undefined ? {} : { failure }),
  };
}

/** A call of the host waits for nobody: the host that makes it can ask whom it likes first. */
function withoutAsking(tool: string, decision: CallDecision): CallDecision {
  if (decision.asks === undefined) return decision;
  const { asks: _, ...rest } = decision;
  const denied = denial(APPROVAL_GATE, 'PERDURE_TOOL_NOBODY_TO_ASK', { tool });
  return { ...rest, decision: 'deny', gates: [...decision.gates, denied] };
}

/** Host calls start no runs and no steps. */
function hostContext(work: SessionWork): RecordContext {
  const unused = (): never => {
    throw new TypeError('a call of the host starts no run and no step');
  };
  return {
    sessionId: work.key.id,
    plugins: work.plugins,
    newRunId: unused,
    now: () => work.env.clock.now(),
    missing: [],
    compose: unused,
    applyChange: unused,
  };
}
