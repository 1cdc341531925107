import { stricterMode } from '../children/stricter.js';
import { AppendList } from './append-list.js';
import type { EvolveHandlers } from './evolve.js';
import { completedTurn } from './evolve-session.js';
import { withVariables } from './variables.js';
import { updateTurn } from './turn-update.js';
import { currentTurn, type EndedTurn, type OpenTurn, type RunState, type SessionState } from './session-state.js';

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
  RunStarted: (fact, state, place) => {
    const run: RunState = {
      runId: fact.runId,
      first: place.revision,
      startedAt: place.time,
      epoch: state.ownership.epoch,
      ...(fact.resumedFrom === undefined ? {} : { resumedFrom: fact.resumedFrom }),
    };
    return updateTurn(state, fact.turnId, (turn) => ({ ...turn, runs: [...turn.runs, run] }));
  },

  RunEnded: (fact, state, place) => {
    const turn = state.open.find(({ turnId }) => turnId === fact.turnId);
    if (turn === undefined) return state;
    const ended = { status: fact.status, last: place.revision, endedAt: place.time };
    // The first end of a run is its end.
    const runs = turn.runs.map((run) =>
      run.runId === fact.runId && run.status === undefined ? { ...run, ...ended } : run,
    );
    if (fact.status === 'handed-over' || fact.status === 'superseded') {
      const kept = updateTurn(state, fact.turnId, (current) => withoutUnansweredStep({ ...current, runs }));
      if (fact.status === 'superseded') return kept;
      return { ...kept, ownership: { ...kept.ownership, handedOver: true } };
    }
    const over: EndedTurn = {
      turnId: turn.turnId,
      status: fact.status,
      runId: fact.runId,
      ...(fact.failure === undefined ? {} : { failure: fact.failure }),
      usage: turn.usage,
      promptIds: turn.prompts.map(({ promptId }) => promptId),
      ...(turn.chosen === undefined ? {} : { chosen: turn.chosen }),
      runs,
      firstMessage: turn.firstMessage,
      lastMessage: state.messages.length - 1,
    };
    // What the turn did not come to is still part of the conversation.
    let context = state.context;
    for (const { message } of turn.waiting) context = context.push(message);
    return {
      ...state,
      naming: fact.status === 'completed' ? completedTurn(state.naming) : state.naming,
      context,
      open: state.open.filter((other) => other !== turn),
      ended: state.ended.push(over),
    };
  },

  ChangeApplied: (fact, state) => {
    const requested = state.changes.find(({ changeId }) => changeId === fact.changeId);
    if (requested === undefined) return state;
    const next: SessionState = { ...state, changes: state.changes.filter((other) => other !== requested) };
    if (fact.failure !== undefined) return next;
    const { change } = requested;
    if (change.kind === 'model') return { ...next, model: change.model };
    if (change.kind === 'approvals') {
      if (change.cap !== true) return { ...next, approvals: change.mode };
      return { ...next, approvalCap: stricterMode(state.approvalCap, change.mode) };
    }
    if (change.kind === 'env') return { ...next, env: withVariables(state.env, change) };
    return change.kind === 'clear' ? cleared(next) : next;
  },

  SystemSnapshotTaken: (fact, state) => ({ ...state, system: fact.blocks }),

  HistoryCompacted: (fact, state) => {
    const { context } = state;
    const prompts = (fact.prompts ?? []).flatMap((place) => context.at(place) ?? []);
    const [turn, ...others] = state.open;
    return {
      ...state,
      summary: fact.summary,
      context: AppendList.from([...prompts, ...context.slice(context.length - fact.kept)]),
      compactions: state.compactions + 1,
      measured: undefined,
      correction: fact.correction ?? state.correction,
      open: turn?.overflow === 'pending' ? [askedAgain(turn), ...others] : state.open,
    };
  },

  ArtifactStored: (_, state) => state,

  PluginSetChanged: (fact, state) => ({ ...state, plugins: fact.plugins }),
};

/** Models see nothing of what was before; of a turn that runs they still see its own messages. */
function cleared(state: SessionState): SessionState {
  const turnId = currentTurn(state)?.turnId;
  const isOfTurn = (place: number): boolean => turnId !== undefined && state.messages.at(place)?.turnId === turnId;
  const context = AppendList.from([...state.context].filter(isOfTurn));
  return { ...state, context, summary: undefined, measured: undefined, compactions: state.compactions + 1 };
}

/** A step whose request was too long is over: what is asked next is another request. */
function askedAgain(turn: OpenTurn): OpenTurn {
  return { ...withoutUnansweredStep(turn), overflow: 'compacted' };
}

/**
 * A step whose model call was not answered does not outlive its run: the next run asks again, with a view of its own.
 */
function withoutUnansweredStep(turn: OpenTurn): OpenTurn {
  if (turn.step === undefined || turn.step.answer !== undefined) return turn;
  return { ...turn, step: undefined };
}
