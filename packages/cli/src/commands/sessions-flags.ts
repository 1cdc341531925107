import type { SessionKey } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import type { PlaceFlags } from '../config/settings.js';

/** Options that all `sessions` commands have. */
export interface SessionsFlags extends PlaceFlags {
  readonly tenant?: string;
}

export function sessionKey(id: string, { tenant }: SessionsFlags): SessionKey {
  return tenant === undefined ? { id } : { tenant, id };
}

/** A revision as it was typed. Throws PERDURE_INPUT_INVALID. */
export function revisionOf(field: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new PerdureError('PERDURE_INPUT_INVALID', { field, reason: 'it is a revision, a whole number from 0 on' });
}
