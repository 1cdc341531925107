import { AppendList } from './append-list.js';
import type { EvolveHandlers } from './evolve.js';
import { updateTurn } from './turn-update.js';
import type { EndedTurn, OpenTurn, RunState, SessionState } from './session-state.js';

type TurnFacts =
  | 'RunStarted'
  | 'RunEnded'
  | 'ChangeApplied'
  | 'SystemSnapshotTaken'
  | 'HistoryCompacted'
  | 'ArtifactStored'
  | 'PluginSetChanged';

/** How runs begin and end, and how changes take effect. */
export const evolveTurn: Pick<EvolveHandlers, TurnFacts> = {
  RunStarted: (fact, state) => {
    const run: RunState = {
      runId: fact.runId,
      epoch: state.ownership.epoch,
      ...(fact.resumedFrom === undefined ? {} : { resumedFrom: fact.resumedFrom }),
    };
    return updateTurn(state, fact.turnId, (turn) => ({ ...turn, runs: [...turn.runs, run] }));
  },

  RunEnded: (fact, state) => {
    const turn = state.open.find(({ turnId }) => turnId === fact.turnId);
    if (turn === undefined) return state;
    const runs = turn.runs.map((run) => (run.runId === fact.runId ? { ...run, status: fact.status } : run));
    if (fact.status === 'handed-over' || fact.status === 'superseded') {
      const kept = updateTurn(state, fact.turnId, (current) => withoutUnansweredStep({ ...current, runs }));
      if (fact.status === 'superseded') return kept;
      return { ...kept, ownership: { ...kept.ownership, handedOver: true } };
    }
    const ended: EndedTurn = {
      turnId: turn.turnId,
      status: fact.status,
      runId: fact.runId,
      ...(fact.failure === undefined ? {} : { failure: fact.failure }),
      usage: turn.usage,
      promptIds: turn.prompts.map(({ promptId }) => promptId),
      runs,
      firstMessage: turn.firstMessage,
      lastMessage: state.messages.length - 1,
    };
    // What the turn did not come to is still part of the conversation.
    let context = state.context;
    for (const { message } of turn.waiting) context = context.push(message);
    return {
      ...state,
      context,
      open: state.open.filter((other) => other !== turn),
      ended: state.ended.push(ended),
    };
  },

  ChangeApplied: (fact, state) => {
    const requested = state.changes.find(({ changeId }) => changeId === fact.changeId);
    if (requested === undefined) return state;
    const next: SessionState = { ...state, changes: state.changes.filter((other) => other !== requested) };
    if (fact.failure !== undefined || requested.change.kind !== 'model') return next;
    return { ...next, model: requested.change.model };
  },

  SystemSnapshotTaken: (fact, state) => ({ ...state, system: fact.blocks }),

  HistoryCompacted: (fact, state) => ({
    ...state,
    summary: fact.summary,
    context: AppendList.from(state.context.slice(state.context.length - fact.kept)),
    compactions: state.compactions + 1,
  }),

  ArtifactStored: (_, state) => state,

  PluginSetChanged: (fact, state) => ({ ...state, plugins: fact.plugins }),
};

/**
 * A step whose model call was not answered does not outlive its run: the next run asks again, with a view of its own.
 */
function withoutUnansweredStep(turn: OpenTurn): OpenTurn {
  if (turn.step === undefined || turn.step.answer !== undefined) return turn;
  return { ...turn, step: undefined };
}
