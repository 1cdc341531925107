import { PerdureError, type ListOptions, type SessionPage, type SessionSummary } from '@perdure/plugin-api';
import type { HostServices } from '../host/host-services.js';
import { checkOptions, checkText, invalidInput } from '../session/session-input.js';
import { withForkTitles } from './fork-titles.js';
import { checkCursor, type ListCursor } from './list-cursor.js';
import { inOrder, pageBehind } from './list-order.js';
import { ProjectionRunner } from './projection-runner.js';
import { sessionList, type SessionListRow } from './session-list.js';

export type ListServices = Pick<HostServices, 'projections' | 'store' | 'facts' | 'logger'>;

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
  const { limit, cursor, fits } = checkListing(filter, options);
  const { query } = checkOptions(options);
  const needle = query === undefined ? undefined : folded(checkText('query', query));
  const isWanted = (row: SessionListRow): boolean =>
    fits(row) && (needle === undefined || shownTexts(row).some(([, text]) => folded(text).includes(needle)));
  const { rows, total, nextCursor } = await listedRows(services, { limit, cursor, fits: isWanted });
  return { items: rows.map(summaryOf), total, nextCursor };
}

/** What is asked of a listing, checked. */
export interface Listing {
  readonly limit: number;
  readonly cursor: ListCursor | undefined;
  readonly fits: (row: SessionListRow) => boolean;
}

/** Throws PERDURE_INPUT_INVALID. */
export function checkListing(filter: SessionListFilter | undefined, options: ListOptions | undefined): Listing {
  const { agentId, tenant } = checkOptions(filter, 'filter');
  const { limit = 50, cursor, archived = false, parent } = checkOptions(options);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 500) {
    throw invalidInput('limit', 'it is a whole number from 1 to 500');
  }
  if (typeof archived !== 'boolean') throw invalidInput('archived', 'it is true or false');
  if (parent !== undefined && parent !== null) checkText('parent', parent);
  return {
    limit,
    cursor: cursor === undefined ? undefined : checkCursor(cursor),
    fits: (row) =>
      (agentId === undefined || row.agentId === agentId) &&
      (tenant === undefined || row.tenant === tenant) &&
      (parent === undefined || row.parent === parent) &&
      (row.archivedAt !== null) === archived,
  };
}

/** A page of a listing, and how many rows it has in all. */
export async function listedRows(
  services: ListServices,
  { limit, cursor, fits }: Listing,
): Promise<{ readonly rows: readonly SessionListRow[]; readonly total: number; readonly nextCursor: string | null }> {
  const { store, facts } = services;
  const rows = withForkTitles(await projected(services, sessionList).read());
  const listed = await inOrder(rows, fits, cursor, store, facts);
  return { ...pageBehind(listed, cursor, limit), total: listed.entries.length };
}

/** Throws PERDURE_TOKEN_MISSING without a place for rows. */
export function projected<Row>(
  { store, projections, facts, logger }: ListServices,
  projection: ConstructorParameters<typeof ProjectionRunner<Row>>[0],
): ProjectionRunner<Row> {
  if (projections === undefined) throw new PerdureError('PERDURE_TOKEN_MISSING', { token: 'projection-store' });
  return new ProjectionRunner(projection, store, projections, facts, logger);
}

/** The texts of a session that a list shows, in the order in which they are searched. */
export function shownTexts({
  id,
  title,
  preview,
}: SessionListRow): readonly (readonly ['id' | 'title' | 'preview', string])[] {
  return [
    ['id', id],
    ['title', title ?? ''],
    ['preview', preview],
  ];
}

/** Texts that differ in upper and lower case alone are equal when folded. */
export function folded(text: string): string {
  return text.toLowerCase();
}

export function summaryOf(row: SessionListRow): SessionSummary {
  const { openTurns, isRunning, missing = 0, unstarted: _, since: __, at: ___, words: ____, ...others } = row;
  const { forkedFrom: _____, ...shown } = others;
  if (missing > 0) return { ...shown, status: 'importing' };
  return { ...shown, status: isRunning ? 'running' : openTurns.length > 0 ? 'waiting' : 'idle' };
}
