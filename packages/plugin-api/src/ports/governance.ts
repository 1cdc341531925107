import type { CallOrigin, EffectContract, JsonValue } from '@perdure/events';

/** A call as gates see it: the final arguments, with references in the place of secrets. */
export interface ToolCallRequest {
  readonly callId: string;
  readonly tool: string;
  readonly input: JsonValue;
  readonly effect: EffectContract;
  readonly origin: CallOrigin;
  /** Names of the tools of which the call is a part, the outermost first; absent when it is a whole. */
  readonly within?: readonly string[];
  readonly sessionId: string;
  readonly turnId: string | undefined;
  readonly workspace: string | undefined;
  /** What permission patterns are matched with. */
  readonly subjects: readonly string[];
}

/** Decides by rules whether a call is allowed, without asking or waiting for anyone. */
export interface PermissionPolicy {
  readonly id: string;
  /** Digest of the rules: equal for equal rules, on any node. */
  readonly digest: string;
  /** The rules as data, to be kept with what they decided: an auditor sees them, and replay can use them again. */
  readonly rules?: JsonValue;
  decide(call: ToolCallRequest): PermissionDecision;
  /**
   * A policy of the same kind by other rules, in the form of `rules`: sessions that are handed work have rules of
   * theirs beside these. Throws PERDURE_CONFIGURATION for rules that are not valid. Without it only agents without
   * rules of their own can be handed work.
   */
  ofRules?(rules: JsonValue): PermissionPolicy;
}

export interface PermissionDecision {
  readonly decision: 'allow' | 'deny' | 'ask';
  /** The rule that decided, as it is written in the configuration. */
  readonly rule?: string;
  readonly reason?: string;
  /** A rule that would allow this call, to show to a person. */
  readonly suggestion?: string;
  /**
   * Set by the runtime where the tool itself wants a person to agree, for the `reason` that is given: whatever the
   * rules say, and each time anew. A policy has no say in it.
   */
  readonly isConfirmation?: boolean;
}

/** Asks a person about a call that the permission policy leaves open. */
export interface Asker {
  ask(call: ToolCallRequest, decision: PermissionDecision, signal: AbortSignal): Promise<'allow' | 'deny'>;
}

/**
 * One more check of every call. `decide` of a `rule` gate answers at once and always the same for the same; a `waiting`
 * gate may call out, and its decisions are kept as inputs. A gate that throws, hangs or answers nonsense denies.
 */
export type Gate = RuleGate | WaitingGate;

/**
 * Where in the order of all gates one stands: before the permission rules, before someone is asked, or last, right
 * before the call is started.
 */
export type GateStage = 'before-permission' | 'before-approval' | 'before-execution';

export interface RuleGate {
  readonly id: string;
  readonly kind: 'rule';
  /** `before-execution` when absent. */
  readonly stage?: GateStage;
  /** Digest of what the gate decides by. */
  readonly digest: string;
  decide(call: ToolCallRequest): GateAnswer;
}

export interface WaitingGate {
  readonly id: string;
  readonly kind: 'waiting';
  /** `before-execution` when absent. */
  readonly stage?: GateStage;
  /** Milliseconds until no answer counts as a denial; 30,000 when absent. */
  readonly timeoutMs?: number;
  decide(call: ToolCallRequest, signal: AbortSignal): Promise<GateAnswer>;
}

export type GateAnswer = { readonly decision: 'allow' } | { readonly decision: 'deny'; readonly reason: string };
