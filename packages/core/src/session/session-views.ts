import { PerdureError, type MessagePage, type MessagesOptions, type SessionInfo } from '@perdure/plugin-api';
import { shownMode } from '../children/stricter.js';
import type { Journal } from './journal.js';
import { formatCursor } from '../live/cursor.js';
import { activeRun, currentTurn } from './session-state.js';
import { previewOf, titleOf } from './title.js';

/** What is known of a session at a revision. */
export type SessionSight = Pick<Journal, 'key' | 'state' | 'head' | 'hash' | 'time'>;

/** A session as `info()` shows it. */
export function sessionInfo(journal: SessionSight): SessionInfo {
  const { state, head, hash, key } = journal;
  const turn = currentTurn(state);
  const run = turn && activeRun(turn);
  const { owner, epoch } = state.ownership;
  const title = titleOf(state);
  return {
    id: key.id,
    agentId: state.identity?.agentId ?? '',
    workspace: state.identity?.workspace ?? null,
    parent: state.identity?.parent ?? null,
    root: state.identity?.root ?? key.id,
    forkedFrom: state.identity?.forkedFrom ?? null,
    agent: state.identity?.profile?.agent ?? null,
    model: state.model ?? null,
    modelLabel: state.answeredBy ?? state.model ?? null,
    title: title?.title ?? null,
    titleBy: title?.by ?? null,
    preview: previewOf(state),
    timezone: state.identity?.timezone ?? null,
    approvals: shownMode(state) ?? null,
    createdAt: state.identity?.createdAt ?? 0,
    updatedAt: journal.time,
    archivedAt: state.archivedAt ?? null,
    messages: state.messages.length,
    usage: state.usage,
    turn:
      turn === undefined
        ? null
        : {
            id: turn.turnId,
            status: run === undefined ? 'waiting' : 'running',
            runId: turn.runs.at(-1)?.runId ?? null,
          },
    owner: owner === undefined ? null : { node: owner.node, epoch },
    revision: head,
    hash,
    cursor: formatCursor(head),
    readOnly: state.newer === undefined ? null : { type: state.newer.type, revision: state.newer.revision },
  };
}

/** A page of messages, the newest or those before a sequence. Throws PERDURE_INPUT_INVALID. */
export function messagePage({ state, head }: Pick<Journal, 'state' | 'head'>, options: MessagesOptions): MessagePage {
  const { beforeSequence, limit = 100 } = options;
  assertPositive('beforeSequence', beforeSequence);
  assertPositive('limit', limit);
  const end = Math.min(state.messages.length, (beforeSequence ?? Number.POSITIVE_INFINITY) - 1);
  const start = Math.max(0, end - limit);
  const items = state.messages.slice(start, end);
  return { items, total: state.messages.length, hasMore: start > 0, cursor: formatCursor(head) };
}

function assertPositive(field: string, value: number | undefined): void {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0)) return;
  throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason: 'it is a whole number from 1 on' });
}
