import { sha256 } from '../host/sha256.js';

/**
 * The id of a call: made from where it stands, so it is the same in every run of the call and belongs to no other, and
 * short enough for every provider. Providers' own ids repeat.
 */
export function callIdOf(sessionId: string, stepId: string, index: number): string {
  return `call_${sha256(`${sessionId}\n${stepId}\n${index}`).slice(0, 24)}`;
}

/**
 * What a tool hands to the system that has its effect, so that a repeat is known there. The call's id is a digest of
 * where the call stands; the generation changes only when an earlier key can no longer take effect.
 */
export function idempotencyKeyOf(callId: string, generation: number): string {
  return generation === 1 ? callId : `${callId}-${generation}`;
}
