import type { CallState } from './call-state.js';
import type { OpenStep, OpenTurn, SessionState } from './session-state.js';

/** A copy that belongs to whoever made it, until it is handed on. */
type Draft<T> = { -readonly [Key in keyof T]: T[Key] };

/**
 * Copies that an `evolve` handler may write to before it returns them. A literal with every member costs a twentieth of
 * a spread, and handlers run for every fact.
 */
export function copyState(state: SessionState): Draft<SessionState> {
  return {
    identity: state.identity,
    labels: state.labels,
    naming: state.naming,
    archivedAt: state.archivedAt,
    model: state.model,
    approvals: state.approvals,
    approvalCap: state.approvalCap,
    ownership: state.ownership,
    open: state.open,
    ended: state.ended,
    messages: state.messages,
    context: state.context,
    summary: state.summary,
    compactions: state.compactions,
    measured: state.measured,
    correction: state.correction,
    changes: state.changes,
    system: state.system,
    env: state.env,
    plugins: state.plugins,
    hostCalls: state.hostCalls,
    nestedCalls: state.nestedCalls,
    children: state.children,
    descendants: state.descendants,
    notices: state.notices,
    setup: state.setup,
    lastStep: state.lastStep,
    usage: state.usage,
    answeredBy: state.answeredBy,
    spent: state.spent,
    commands: state.commands,
    erase: state.erase,
    isErased: state.isErased,
    artifacts: state.artifacts,
    newer: state.newer,
  };
}

export function copyTurn(turn: OpenTurn): Draft<OpenTurn> {
  return {
    turnId: turn.turnId,
    prompts: turn.prompts,
    chosen: turn.chosen,
    waiting: turn.waiting,
    stop: turn.stop,
    runs: turn.runs,
    steps: turn.steps,
    step: turn.step,
    concluded: turn.concluded,
    overflow: turn.overflow,
    usage: turn.usage,
    workedMs: turn.workedMs,
    firstMessage: turn.firstMessage,
  };
}

export function copyStep(step: OpenStep): Draft<OpenStep> {
  const { busy } = step;
  return {
    stepId: step.stepId,
    index: step.index,
    failures: step.failures,
    lastFailure: step.lastFailure,
    interrupted: step.interrupted,
    answer: step.answer,
    calls: step.calls,
    ...(busy === undefined ? {} : { busy }),
    results: step.results,
  };
}

export function copyCall(call: CallState): Draft<CallState> {
  const { approval, question, parent, madeIn, outcome } = call;
  return {
    callId: call.callId,
    name: call.name,
    origin: call.origin,
    ...(parent === undefined ? {} : { parent }),
    ...(madeIn === undefined ? {} : { madeIn }),
    input: call.input,
    invalidInput: call.invalidInput,
    ...(approval === undefined ? {} : { approval }),
    ...(question === undefined ? {} : { question }),
    decision: call.decision,
    started: call.started,
    settled: call.settled,
    ...(outcome === undefined ? {} : { outcome }),
  };
}

/** The open turns with another first one. */
export function withFirst(open: readonly OpenTurn[], turn: OpenTurn): readonly OpenTurn[] {
  return open.length === 1 ? [turn] : [turn, ...open.slice(1)];
}
