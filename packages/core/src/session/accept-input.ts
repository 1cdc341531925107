import type { Actor, Change, PayloadOf } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import type { SessionWork } from '../turn/session-work.js';
import { refuseArchived } from './refuse-archived.js';
import type { FactBatch } from './fact-batch.js';
import type { Journal } from './journal.js';
import { refuseNewer } from './ownership.js';
import { refuseErased } from './refuse-erased.js';
import type { ReadPrompt } from './prompt-input.js';
import type { SessionIndex } from './session-index.js';
import { currentTurn, type OpenTurn, type SessionState } from './session-state.js';

/** Ids for an input, made before its first try. */
export interface InputIds {
  readonly promptId: string;
  readonly turnId: string;
}

export function inputIds({ journal, env, key }: Pick<SessionWork, 'journal' | 'env' | 'key'>): InputIds {
  const scope = `${key.id}-${journal.state.ownership.epoch}`;
  return { promptId: env.idGenerator.next(`${scope}-prompt`), turnId: env.idGenerator.next(`${scope}-turn`) };
}

/** Which turn answers a prompt. */
export interface AcceptedPrompt {
  readonly promptId: string;
  readonly turnId: string;
  /** The prompt was accepted before; nothing was added. */
  readonly isKnown: boolean;
}

/** The id that a host gives a run, and the digest of the prompt as it was given. */
export type NamedRun = NonNullable<PayloadOf<'PromptAccepted'>['run']>;

/** A prompt as it is to be stored. */
export type AcceptablePrompt = Pick<ReadPrompt, 'parts' | 'whenBusy'> & { readonly run: NamedRun | undefined };

const USER: Actor = { kind: 'user' };

/**
 * Accepts a prompt: it opens a turn, waits for one, or joins the one that runs. The same prompt id again is the same
 * turn, and so is the same run id with the same input. Anyone may do this, whoever owns the session. `index` follows
 * the state of the batch.
 */
export function acceptPrompt(
  batch: FactBatch,
  session: string,
  prompt: AcceptablePrompt,
  ids: InputIds,
  index: SessionIndex,
): AcceptedPrompt {
  const known = index.turnOf(ids.promptId);
  if (prompt.run !== undefined) {
    const same = startedTurn(prompt.run, session, known, index);
    if (same !== undefined) return { promptId: same.promptId, turnId: same.turnId, isKnown: true };
  } else if (known !== undefined) {
    return { promptId: ids.promptId, turnId: known, isKnown: true };
  }
  refuseNewer(batch.state, session);
  refuseArchived(batch.state, session);
  refuseErased(batch.state, session);
  const running = currentTurn(batch.state);
  if (running !== undefined && prompt.whenBusy === 'reject') {
    throw new PerdureError('PERDURE_SESSION_BUSY', { session, turn: running.turnId });
  }
  if (running !== undefined && prompt.whenBusy === 'interrupt' && running.stop === undefined) {
    batch.add('StopRequested', { turnId: running.turnId, reason: 'interrupted' }, { turnId: running.turnId }, USER);
  }
  const steered = prompt.whenBusy === 'steer' ? steerable(batch.state) : undefined;
  const turnId = steered?.turnId ?? ids.turnId;
  const mode = steered !== undefined ? 'steer' : running === undefined ? 'turn' : 'queue';
  const { promptId } = ids;
  batch.add(
    'PromptAccepted',
    { promptId, turnId, messageId: promptId, mode, parts: [...prompt.parts], ...(prompt.run && { run: prompt.run }) },
    { turnId },
    USER,
  );
  return { promptId: ids.promptId, turnId, isKnown: false };
}

/** Asks for the end of a turn, or takes its prompts back when it has not begun. Whether there was such a turn. */
export function requestStop(batch: FactBatch, turnId: string, reason: string | undefined): boolean {
  const turn = batch.state.open.find((open) => open.turnId === turnId);
  if (turn === undefined) return false;
  if (turn.runs.length === 0) return cancelWaiting(batch, turn, reason);
  if (turn.stop === undefined) {
    batch.add('StopRequested', { turnId, ...(reason === undefined ? {} : { reason }) }, { turnId }, USER);
  }
  return true;
}

/** Asks for the end of a session: what runs is stopped, what waits is taken back, and it takes nothing more. */
export function requestErasure(batch: FactBatch, erase: PayloadOf<'EraseRequested'>): boolean {
  const { isDone } = requestStopAll(batch, 'erased');
  const { erase: asked } = batch.state;
  if (isDone && (asked === undefined || (erase.cascade && !asked.cascade)))
    batch.add('EraseRequested', erase, {}, { kind: 'host' });
  return isDone;
}

/**
 * Stops the running turn and takes back the prompts that wait, as many as the batch has room for. The turn that was
 * stopped, and whether no prompt is left.
 */
export function requestStopAll(
  batch: FactBatch,
  reason: string | undefined,
): { readonly turnId: string | undefined; readonly isDone: boolean } {
  const turnId = currentTurn(batch.state)?.turnId;
  const isStopped = turnId !== undefined && requestStop(batch, turnId, reason);
  const hadOne = (): boolean =>
    batch.state.open.some((turn) => turn.runs.length === 0 && cancelWaiting(batch, turn, reason));
  while (!batch.isFull && hadOne());
  return { turnId: isStopped ? turnId : undefined, isDone: !batch.isFull };
}

/** The same until no prompt is left: there may be more of them than a store takes at once. */
export async function stopEverything(journal: Journal, reason: string | undefined): Promise<string | undefined> {
  let stopped: string | undefined;
  for (;;) {
    const { turnId, isDone } = await journal.commit((batch) => requestStopAll(batch, reason), 'input');
    stopped ??= turnId;
    if (isDone) return stopped;
  }
}

export function requestChange(batch: FactBatch, session: string, changeId: string, change: Change): void {
  refuseNewer(batch.state, session);
  refuseArchived(batch.state, session);
  refuseErased(batch.state, session);
  batch.add('ChangeRequested', { changeId, change }, {}, { kind: 'host' });
}

/** Takes back the prompts of a turn that has not begun, as many as there is room for. Whether there were any. */
function cancelWaiting(batch: FactBatch, turn: OpenTurn, reason: string | undefined): boolean {
  for (const { id } of turn.waiting) {
    if (batch.isFull) break;
    batch.add('PromptCancelled', { promptId: id, reason: reason ?? 'stopped' }, { turnId: turn.turnId }, USER);
  }
  return turn.waiting.length > 0;
}

/** The turn that a prompt can still join: one that was not asked to end. */
function steerable(state: SessionState): OpenTurn | undefined {
  const running = currentTurn(state);
  return running?.stop === undefined ? running : undefined;
}

/**
 * The turn that the same start of a run opened before, if any. Throws PERDURE_RUN_IDENTITY_CONFLICT when the id is that
 * of another start.
 */
function startedTurn(
  { runId, digest }: NamedRun,
  session: string,
  ofPrompt: string | undefined,
  index: SessionIndex,
): { readonly turnId: string; readonly promptId: string } | undefined {
  const turnId = index.turnOfRunId(runId) ?? ofPrompt;
  if (turnId === undefined) return undefined;
  const turn = index.turn(turnId);
  if (turn?.chosen?.runId !== runId || turn.chosen.digest !== digest || (ofPrompt ?? turnId) !== turnId) {
    throw new PerdureError('PERDURE_RUN_IDENTITY_CONFLICT', { run: runId, session });
  }
  return { turnId, promptId: 'promptIds' in turn ? (turn.promptIds[0] ?? '') : (turn.prompts[0]?.promptId ?? '') };
}
