import { coreDefinition, isCoreType, type PayloadOf } from '@perdure/events';
import type { InvocationContext } from '../invoke/invocation-context.js';
import { timeOf } from '../session/fact-encoder.js';
import type { CommittedFact } from '../session/journal.js';
import type { SessionIndex } from '../session/session-index.js';
import { invocationContextOf } from '../turn/invocation-context-of.js';
import type { SessionWork } from '../turn/session-work.js';
import { occurrencesOf, toolResultsOf } from './fact-hooks.js';
import { tell } from './tell.js';

/** Tells the hooks of a session what is committed, and that it is let go. Nothing that they do can fail a turn. */
export class HookTeller {
  constructor(
    private readonly work: SessionWork,
    private readonly index: SessionIndex,
    private readonly signal: AbortSignal,
  ) {}

  /** What the owner of a session wrote is told by the owner alone, what anyone may append in every process. */
  tellOf({ type, payload, recorded }: CommittedFact, isOwner: boolean): void {
    const { work, index } = this;
    const agent = work.agent();
    if (!agent.hasHooks || !isCoreType(type)) return;
    if (coreDefinition(type).lane === 'owner' && !isOwner) return;
    const { state } = work.journal;
    const occurrences = occurrencesOf(type, payload, {
      state,
      time: timeOf(recorded),
      call: (callId) => index.call(callId),
      answerText: (turnId) => index.answerText(turnId),
    });
    const now = invocationContextOf(work, state, this.signal);
    const context = type === 'RunEnded' ? inRun(now, payload as PayloadOf<'RunEnded'>) : now;
    for (const occurrence of occurrences) void tell(occurrence, agent, context);
  }

  async tellEnd(): Promise<void> {
    const { work } = this;
    const { state, time } = work.journal;
    const agent = work.agent();
    if (!agent.hasHooks || state.identity === undefined) return;
    const { createdAt } = state.identity;
    const payload = () => ({
      total_tokens: state.usage.totalTokens,
      total_tool_calls: toolResultsOf(state.messages),
      duration_ms: time - createdAt,
    });
    await tell({ event: 'session_end', payload }, agent, invocationContextOf(work, state, this.signal));
  }
}

/** A run that the state no longer has is still the one that its end is about. */
function inRun(context: InvocationContext, { turnId, runId }: PayloadOf<'RunEnded'>): InvocationContext {
  return { ...context, subject: () => ({ ...context.subject(), turn_id: turnId, run_id: runId }) };
}
