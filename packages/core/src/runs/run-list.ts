import { promptText } from '@perdure/events';
import type { RunRecordStatus, RunSnapshot } from '@perdure/plugin-api';
import type { SessionIndex } from '../session/session-index.js';
import {
  activeRun,
  currentTurn,
  type ChosenRun,
  type EndedTurn,
  type OpenTurn,
  type RunState,
  type SessionState,
} from '../session/session-state.js';

/** A run as the fold has it: one that began, or one that the host named and nothing began. */
export interface ListedRun {
  readonly id: string;
  readonly turn: OpenTurn | EndedTurn;
  readonly run: RunState | undefined;
  readonly chosen: ChosenRun | undefined;
  readonly resumedFrom: string | undefined;
}

/** Every run of a session in the order in which they came. */
export function listRuns(state: SessionState): readonly ListedRun[] {
  const runs = [...state.ended, ...state.open].flatMap(runsOf);
  return runs.sort((a, b) => cameAt(a) - cameAt(b));
}

/** The newest so many of them. The run that goes on is the newest that began, and is kept in any case. */
export function retainedRuns(state: SessionState, maxRuns: number | undefined): readonly ListedRun[] {
  const runs = listRuns(state);
  if (maxRuns === undefined || runs.length <= maxRuns) return runs;
  const first = runs.length - maxRuns;
  return runs.filter(({ run }, index) => index >= first || (run !== undefined && run.status === undefined));
}

/** How many facts a run has when the session's last revision is `head`. */
export function eventCountOf({ run }: ListedRun, head: number): number {
  return run === undefined ? 0 : (run.last ?? head) - run.first + 1;
}

/** What a listed run is shown as; `head` and `time` are those of the session's last fact. */
export function runSnapshotOf(listed: ListedRun, { sessionId, state, index, head, time }: RunSight): RunSnapshot {
  const { id, turn, run, chosen, resumedFrom } = listed;
  const { turnId } = turn;
  const status = statusOf(listed);
  const first = state.messages.at(turn.firstMessage);
  const text = status === 'completed' ? index.answerText(turnId) : undefined;
  const failure = status === 'failed' && 'failure' in turn ? turn.failure : undefined;
  const createdAt = chosen?.acceptedAt ?? run?.startedAt ?? 0;
  return {
    id,
    sessionId,
    turnId,
    status,
    prompt: first?.role === 'user' ? promptText(first.parts) : '',
    createdAt,
    updatedAt: run === undefined ? createdAt : (run.endedAt ?? time),
    ...(text === undefined ? {} : { resultText: text }),
    ...(failure === undefined ? {} : { error: failure }),
    eventCount: eventCountOf(listed, head),
    ...(resumedFrom === undefined ? {} : { resumedFrom }),
  };
}

/** What a snapshot is made with. */
export interface RunSight {
  readonly sessionId: string;
  readonly state: SessionState;
  readonly index: SessionIndex;
  readonly head: number;
  readonly time: number;
}

/** The run that goes on in a session. */
export function currentRunOf(state: SessionState): ListedRun | undefined {
  const turn = currentTurn(state);
  const run = turn && activeRun(turn);
  return turn === undefined || run === undefined ? undefined : runsOf(turn).at(-1);
}

function runsOf(turn: OpenTurn | EndedTurn): readonly ListedRun[] {
  const { chosen } = turn;
  if (turn.runs.length === 0) {
    return chosen === undefined ? [] : [{ id: chosen.runId, turn, run: undefined, chosen, resumedFrom: undefined }];
  }
  return turn.runs.map((run, index) => ({
    id: run.runId,
    turn,
    run,
    chosen: index === 0 ? chosen : undefined,
    resumedFrom: run.resumedFrom,
  }));
}

function cameAt({ run, chosen }: ListedRun): number {
  return chosen?.revision ?? run?.first ?? 0;
}

function statusOf({ run, turn }: ListedRun): RunRecordStatus {
  if (run !== undefined) return run.status ?? 'executing';
  return 'status' in turn ? 'cancelled' : 'created';
}
