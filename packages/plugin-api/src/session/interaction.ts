import type { EffectContract, JsonValue } from '@perdure/events';

/** A call that waits for a person's answer. */
export interface Interaction {
  readonly kind: 'approval';
  readonly id: string;
  /** `null` for a call of the host. */
  readonly turnId: string | null;
  readonly tool: string;
  /** The final arguments, with references in the place of secrets, and their digest. */
  readonly input: JsonValue;
  readonly argumentDigest: string;
  readonly effect: EffectContract;
  readonly reason: string | null;
  /** A rule that would allow the call. */
  readonly suggestion: string | null;
  /** Epoch milliseconds. */
  readonly requestedAt: number;
  readonly expiresAt: number | null;
}

/** The answer to an interaction. The first one counts. */
export interface InteractionResponse {
  readonly id: string;
  readonly decision: 'allow' | 'deny';
  /** Who answers, in the host's words. */
  readonly by: string;
  /** Told to the model with a denial. */
  readonly reason?: string;
  /** The digest of the arguments that were seen. Given, it must be that of the request. */
  readonly argumentDigest?: string;
}
