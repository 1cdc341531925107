import type { SessionKey } from '@perdure/events';
import type { PlaceFlags } from '../config/settings.js';

/** Options that all `sessions` commands have. */
export interface SessionsFlags extends PlaceFlags {
  readonly tenant?: string;
}

export function sessionKey(id: string, { tenant }: SessionsFlags): SessionKey {
  return tenant === undefined ? { id } : { tenant, id };
}
