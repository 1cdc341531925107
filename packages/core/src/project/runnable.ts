import { keyText, type PayloadOf } from '@perdure/events';
import type { Projection } from './projection.js';

/** Whether a session has work that someone must do, since when, when a request in it expires, and whose it is. */
export interface RunnableRow {
  readonly session: string;
  readonly tenant: string | null;
  readonly agent: string | null;
  /** Epoch milliseconds; `null` when there is nothing to do before a person answers. */
  readonly runnableSince: number | null;
  /** Epoch milliseconds of the first expiry that nobody has answered. */
  readonly nextDeadline: number | null;
  /** `null` also when the owner ended its run to let another node go on. */
  readonly owner: { readonly node: string; readonly incarnation: string; readonly epoch: number } | null;
  /**
   * The process that handed the run over in the middle of its work and need not be the one to go on. Another of the
   * same node may.
   */
  readonly leftBy: { readonly node: string; readonly incarnation: string } | null;
  readonly openTurns: readonly string[];
  /** The prompts of open turns that were not taken back. */
  readonly prompts: readonly { readonly promptId: string; readonly turnId: string }[];
  readonly changes: readonly string[];
  /** What people are asked and have not answered. */
  readonly asked: readonly Asked[];
  /** Something came since the session was left to people: an answer, or a stop of its turn. */
  readonly isWoken: boolean;
  /** It is to be erased, and whoever does that has not come to the end. */
  readonly erasing: { readonly cascade: boolean; readonly reason: string | null } | null;
}

interface Asked {
  readonly id: string;
  readonly expiresAt: number | null;
}

/**
 * The facts by which people are asked, and those by which they answer. A call that no answer holds waits in the process
 * that made it, and is not asked about here.
 */
const asking: Readonly<Record<string, (payload: never) => Asked | undefined>> = {
  ApprovalRequested: ({ origin = 'model', callId: id, expiresAt }: PayloadOf<'ApprovalRequested'>) =>
    origin === 'model' ? { id, expiresAt: expiresAt ?? null } : undefined,
  QuestionAsked: ({ origin, callId: id, expiresAt }: PayloadOf<'QuestionAsked'>) =>
    origin === undefined ? { id, expiresAt: expiresAt ?? null } : undefined,
};
const answering: Readonly<Record<string, (payload: never) => string>> = {
  ApprovalResolved: (fact: PayloadOf<'ApprovalResolved'>) => fact.callId,
  QuestionAnswered: (fact: PayloadOf<'QuestionAnswered'>) => fact.callId,
};

const nothing: Omit<RunnableRow, 'session' | 'tenant'> = {
  agent: null,
  runnableSince: null,
  nextDeadline: null,
  owner: null,
  leftBy: null,
  openTurns: [],
  prompts: [],
  changes: [],
  asked: [],
  isWoken: false,
  erasing: null,
};

/**
 * Sessions by what there is to do in them: where an orphan is found, and who must be answered when. Of a session that
 * has an owner the row may count as runnable what waits: the owner knows. When it is released it is exact, for what
 * waits is released as what waits, and other work before a run of it began.
 */
export const runnable: Projection<RunnableRow> = {
  name: 'runnable',
  version: 6,
  types: [
    'SessionCreated',
    'SessionForked',
    'EraseRequested',
    'SessionRestored',
    'SessionErased',
    'PromptAccepted',
    'PromptCancelled',
    'StopRequested',
    'RunEnded',
    'ChangeRequested',
    'ChangeApplied',
    'OwnershipTaken',
    'OwnershipReleased',
    ...Object.keys(asking),
    ...Object.keys(answering),
  ],
  keys: (fact) => [keyText(fact.key)],
  evolve: (row, fact) => {
    const { id: session, tenant = null } = fact.key;
    const before = row ?? { session, tenant, ...nothing };
    if (fact.type === 'SessionErased') return remainsOf(before, fact.payload as PayloadOf<'SessionErased'>);
    const next = { ...before, ...changeOf(before, fact.type, fact.payload) };
    const deadlines = next.asked.flatMap(({ expiresAt }) => (expiresAt === null ? [] : [expiresAt]));
    const waits = next.asked.length > 0 && !next.isWoken;
    const isRunnable = !waits && (next.openTurns.length > 0 || next.changes.length > 0);
    return {
      ...next,
      runnableSince: isRunnable ? (next.runnableSince ?? fact.time) : null,
      nextDeadline: deadlines.length === 0 ? null : Math.min(...deadlines),
    };
  },
};

/** Of a session that is gone only what is left is to be destroyed; whoever has done that removes the row. */
function remainsOf(
  { session, tenant, erasing }: RunnableRow,
  { agentId: agent, reason }: PayloadOf<'SessionErased'>,
): RunnableRow {
  return { session, tenant, ...nothing, agent, erasing: erasing ?? { cascade: false, reason: reason ?? null } };
}

function changeOf(row: RunnableRow, type: string, payload: unknown): Partial<RunnableRow> {
  const { openTurns, prompts, changes, asked } = row;
  const ask = asking[type]?.(payload as never);
  if (ask !== undefined) return { asked: [...asked.filter(({ id }) => id !== ask.id), ask] };
  const answered = answering[type]?.(payload as never);
  if (answered !== undefined) {
    const left = asked.filter(({ id }) => id !== answered);
    return left.length === asked.length ? {} : { asked: left, isWoken: true, leftBy: null };
  }
  switch (type) {
    case 'SessionCreated':
    case 'SessionForked':
      return { agent: (payload as PayloadOf<'SessionCreated' | 'SessionForked'>).agentId };
    case 'EraseRequested': {
      const { cascade, reason = null } = payload as PayloadOf<'EraseRequested'>;
      return { erasing: { cascade, reason } };
    }
    case 'SessionRestored':
      return { erasing: null };
    case 'PromptAccepted': {
      const { turnId, promptId } = payload as PayloadOf<'PromptAccepted'>;
      const added = { prompts: [...prompts, { promptId, turnId }] };
      return openTurns.includes(turnId) ? added : { ...added, openTurns: [...openTurns, turnId], leftBy: null };
    }
    case 'PromptCancelled': {
      const { promptId } = payload as PayloadOf<'PromptCancelled'>;
      const left = prompts.filter((prompt) => prompt.promptId !== promptId);
      return { prompts: left, openTurns: openTurns.filter((id) => left.some(({ turnId }) => turnId === id)) };
    }
    case 'StopRequested': {
      const { turnId } = payload as PayloadOf<'StopRequested'>;
      return turnId === openTurns[0] ? { isWoken: true, leftBy: null } : {};
    }
    case 'RunEnded': {
      const { turnId, status } = payload as PayloadOf<'RunEnded'>;
      if (status === 'superseded') return {};
      if (status === 'handed-over') {
        if (row.owner === null) return { leftBy: null };
        const { node, incarnation } = row.owner;
        return { owner: null, leftBy: { node, incarnation } };
      }
      return {
        openTurns: openTurns.filter((open) => open !== turnId),
        prompts: prompts.filter((prompt) => prompt.turnId !== turnId),
        asked: [],
        isWoken: false,
      };
    }
    case 'ChangeRequested':
      return { changes: [...changes, (payload as PayloadOf<'ChangeRequested'>).changeId], leftBy: null };
    case 'ChangeApplied':
      return { changes: changes.filter((id) => id !== (payload as PayloadOf<'ChangeApplied'>).changeId) };
    case 'OwnershipTaken': {
      const { node, incarnation, epoch } = payload as PayloadOf<'OwnershipTaken'>;
      return { owner: { node, incarnation, epoch }, leftBy: null };
    }
    case 'OwnershipReleased':
      return { owner: null, leftBy: null, isWoken: false };
    default:
      return {};
  }
}
