import type { Durability } from './database.js';
import type { Position } from './position.js';

/** A batch that was stored, as followers hear of it before they read it. */
export interface Announcement {
  readonly durability: Durability;
  readonly stream: string;
  /** Revisions of the first and the last fact. */
  readonly first: number;
  readonly last: number;
  /** Of the last fact. */
  readonly position: Position;
  readonly facts: readonly { readonly type: string }[];
}

/** Whether one of the facts has one of the types; all have when no types are given. */
export function hasType({ facts }: Announcement, types: ReadonlySet<string> | undefined): boolean {
  if (types === undefined) return true;
  for (const { type } of facts) if (types.has(type)) return true;
  return false;
}
