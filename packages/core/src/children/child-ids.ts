import { sha256 } from '../host/sha256.js';

/**
 * The id of a child session: made from the call that starts it and its place there, so that it is the same in every run
 * of the call and belongs to no other.
 */
export function childIdOf(parent: string, callId: string, index: number): string {
  return `child_${sha256(`${parent}\n${callId}\n${index}`).slice(0, 24)}`;
}

/** The turn that is the work of a child, and the prompt that opens it. */
export function workIdsOf(childId: string): { readonly turnId: string; readonly promptId: string } {
  return { turnId: `${childId}-turn`, promptId: `${childId}-prompt` };
}
