import { keyText, promptText, type PayloadOf } from '@perdure/events';
import { PerdureError, type ListOptions, type SessionPage, type SessionSummary } from '@perdure/plugin-api';
import type { HostServices } from '../host/host-services.js';
import { checkOptions } from '../session/session-input.js';
import type { ProjectedFact, Projection } from './projection.js';
import { ProjectionRunner } from './projection-runner.js';

/** A session as lists show it. */
export interface SessionListRow {
  readonly id: string;
  readonly tenant: string | null;
  readonly agentId: string;
  readonly workspace: string | null;
  readonly preview: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly messages: number;
  readonly totalTokens: number;
  /** Turns that have not ended, and whether a run of one goes on. */
  readonly openTurns: readonly string[];
  readonly isRunning: boolean;
  readonly owner: string | null;
  /** Messages that an import has still to bring. */
  readonly missing?: number;
}

const PREVIEW = 180;

export const sessionList: Projection<SessionListRow> = {
  name: 'session-list',
  version: 2,
  types: [
    'SessionCreated',
    'SessionForked',
    'SessionErased',
    'MessagesImported',
    'PromptAccepted',
    'PromptCancelled',
    'RunStarted',
    'RunEnded',
    'ModelAnswered',
    'AnswerInterrupted',
    'OwnershipTaken',
    'OwnershipReleased',
  ],
  keys: (fact) => [keyText(fact.key)],
  evolve: (row, fact) => {
    if (fact.type === 'SessionErased') return undefined;
    if (fact.type === 'SessionCreated' || fact.type === 'SessionForked') {
      return created(fact, fact.payload as PayloadOf<'SessionCreated' | 'SessionForked'>);
    }
    return row && { ...row, ...changeOf(row, fact), updatedAt: fact.time };
  },
};

function created(fact: ProjectedFact, payload: PayloadOf<'SessionCreated' | 'SessionForked'>): SessionListRow {
  return {
    id: fact.key.id,
    tenant: fact.key.tenant ?? null,
    agentId: payload.agentId,
    workspace: payload.workspace ?? null,
    preview: '',
    createdAt: fact.time,
    updatedAt: fact.time,
    messages: 0,
    totalTokens: 0,
    openTurns: [],
    isRunning: false,
    owner: null,
    ...(!('imported' in payload) || payload.imported === undefined ? {} : { missing: payload.imported.messages }),
  };
}

function changeOf(row: SessionListRow, fact: ProjectedFact): Partial<SessionListRow> {
  switch (fact.type) {
    case 'PromptAccepted': {
      const { turnId, parts } = fact.payload as PayloadOf<'PromptAccepted'>;
      const openTurns = row.openTurns.includes(turnId) ? row.openTurns : [...row.openTurns, turnId];
      return { openTurns, messages: row.messages + 1, preview: row.preview || promptText(parts).slice(0, PREVIEW) };
    }
    case 'MessagesImported': {
      const { from, messages } = fact.payload as PayloadOf<'MessagesImported'>;
      if (from !== row.messages || row.missing === undefined) return {};
      const first = messages.find(({ role }) => role === 'user');
      const preview = first?.role === 'user' ? promptText(first.parts).slice(0, PREVIEW) : '';
      const missing = row.missing - messages.length;
      return { messages: from + messages.length, preview: row.preview || preview, missing };
    }
    case 'RunStarted':
      return { isRunning: true };
    case 'RunEnded': {
      const { turnId, status } = fact.payload as PayloadOf<'RunEnded'>;
      const goesOn = status === 'handed-over' || status === 'superseded';
      return { isRunning: false, openTurns: goesOn ? row.openTurns : row.openTurns.filter((open) => open !== turnId) };
    }
    case 'ModelAnswered': {
      const { usage, purpose } = fact.payload as PayloadOf<'ModelAnswered'>;
      return {
        totalTokens: row.totalTokens + usage.totalTokens,
        messages: row.messages + (purpose === 'step' ? 1 : 0),
      };
    }
    case 'AnswerInterrupted':
      return { messages: row.messages + 1 };
    case 'OwnershipTaken':
      return { owner: (fact.payload as PayloadOf<'OwnershipTaken'>).node };
    case 'OwnershipReleased':
      return { owner: null };
    default:
      return {};
  }
}

type ListServices = Pick<HostServices, 'projections' | 'store' | 'facts' | 'logger'>;

/** Whose sessions are listed; an absent member is everybody's. */
export interface SessionListFilter {
  readonly agentId?: string;
  /** `null` for sessions that belong to no tenant. */
  readonly tenant?: string | null;
}

/** A page of sessions, the most recently changed first. */
export async function listSessions(
  services: ListServices,
  filter: SessionListFilter | undefined,
  options: ListOptions | undefined,
): Promise<SessionPage> {
  const { agentId, tenant } = checkOptions(filter, 'filter');
  const { limit = 50, cursor } = checkOptions(options);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 500) {
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: 'limit', reason: 'it is a whole number from 1 to 500' });
  }
  const after = cursor === undefined ? undefined : readCursor(cursor);
  const rows = await readSessionList(services);
  const sorted = rows
    .filter((row) => row.agentId === (agentId ?? row.agentId) && (tenant === undefined || row.tenant === tenant))
    .sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1))
    .filter(
      (row) => after === undefined || row.updatedAt < after.at || (row.updatedAt === after.at && row.id > after.id),
    );
  const page = sorted.slice(0, limit);
  const last = page.at(-1);
  const nextCursor = last === undefined || sorted.length <= limit ? null : `${last.updatedAt}.${last.id}`;
  return { items: page.map(summaryOf), nextCursor };
}

/** Every session of the store, brought up to date. */
export async function readSessionList(services: ListServices): Promise<readonly SessionListRow[]> {
  const { store, projections, facts, logger } = services;
  if (projections === undefined) throw new PerdureError('PERDURE_TOKEN_MISSING', { token: 'projection-store' });
  const runner = new ProjectionRunner(sessionList, store, projections, facts, logger);
  return [...(await runner.read()).values()];
}

function summaryOf(row: SessionListRow): SessionSummary {
  const { openTurns, isRunning, missing = 0, ...shown } = row;
  if (missing > 0) return { ...shown, status: 'importing' };
  return { ...shown, status: isRunning ? 'running' : openTurns.length > 0 ? 'waiting' : 'idle' };
}

function readCursor(cursor: string): { readonly at: number; readonly id: string } {
  const match = typeof cursor === 'string' ? /^(\d+)\.(.+)$/s.exec(cursor) : null;
  if (match === null)
    throw new PerdureError('PERDURE_INPUT_INVALID', { field: 'cursor', reason: 'it is no cursor of a list' });
  return { at: Number(match[1]), id: match[2] as string };
}
