import type { CallOrigin, JsonValue, Usage } from '@perdure/events';

/**
 * The points at which hooks run. Gating hooks decide and fail closed: an error or a time-out blocks. Observing hooks
 * fail open: an error is reported and changes nothing.
 */
export const hookPoints = {
  pre_prompt: { isGating: true },
  generate_start: { isGating: false },
  generate_end: { isGating: false },
  pre_tool_use: { isGating: true },
  permission_request: { isGating: true },
  post_tool_use: { isGating: false },
  post_response: { isGating: false },
  on_error: { isGating: false },
  on_rate_limit: { isGating: false },
  on_confirmation: { isGating: false },
  pre_compact: { isGating: true },
  post_compact: { isGating: false },
  session_start: { isGating: false },
  session_end: { isGating: false },
  budget_threshold_hit: { isGating: false },
  passivation_requested: { isGating: false },
  peer_invocation: { isGating: false },
} as const satisfies Readonly<Record<string, { readonly isGating: boolean }>>;

export type HookEvent = keyof typeof hookPoints;

export function isHookEvent(name: string): name is HookEvent {
  return Object.hasOwn(hookPoints, name);
}

/** In every payload: where it happened, and the host's labels of the session. */
export interface HookSubject {
  readonly session_id: string;
  readonly tenant_id: string | null;
  readonly principal: string | null;
  readonly agent_template_id: string | null;
  readonly correlation_id: string | null;
  readonly turn_id: string | null;
  readonly run_id: string | null;
}

interface ToolCallPayload {
  readonly tool_id: string;
  readonly tool: string;
  readonly args: JsonValue;
  readonly working_directory: string | null;
  readonly origin: CallOrigin;
}

interface ResponsePayload {
  readonly response_text: string;
  readonly usage: Usage;
  readonly duration_ms: number;
}

/** What each point tells beside the subject. Durations are milliseconds. */
export interface HookPayloads {
  readonly pre_prompt: { readonly prompt: string; readonly message_count: number };
  readonly generate_start: {
    readonly prompt: string;
    readonly model_provider: string;
    readonly model_name: string;
    readonly available_tools: readonly string[];
  };
  readonly generate_end: ResponsePayload & {
    readonly tool_calls: readonly { readonly name: string; readonly args: JsonValue }[];
  };
  readonly pre_tool_use: ToolCallPayload & { readonly recent_tools: readonly string[] };
  readonly permission_request: ToolCallPayload;
  readonly post_tool_use: ToolCallPayload & {
    readonly result: {
      readonly success: boolean;
      readonly status: string;
      readonly output: JsonValue;
      readonly duration_ms: number;
    };
  };
  readonly post_response: ResponsePayload & { readonly tool_calls_count: number };
  readonly on_error: {
    readonly error_type: 'tool_failure' | 'llm_failure' | 'permission_denied' | 'timeout' | 'other';
    readonly error_code: string;
    readonly error_message: string;
    readonly context: JsonValue;
  };
  readonly on_rate_limit: { readonly limit_type: string; readonly retry_after_ms: number | null };
  readonly on_confirmation: {
    readonly confirmation_type: 'approval' | 'question';
    readonly message: string;
    readonly interaction_id: string;
    /** What is offered, as people read it, where one question with options is asked. */
    readonly options?: readonly string[];
  };
  /** Of what models see: its messages, the estimated tokens of the request, and the model's window. */
  readonly pre_compact: { readonly message_count: number; readonly used_tokens: number; readonly max_tokens: number };
  readonly post_compact: {
    readonly message_count_before: number;
    readonly message_count_after: number;
    readonly summary_generated: boolean;
  };
  readonly session_start: { readonly model_provider: string | null; readonly model_name: string | null };
  readonly session_end: {
    readonly total_tokens: number;
    readonly total_tool_calls: number;
    readonly duration_ms: number;
  };
  readonly budget_threshold_hit: {
    readonly resource: string;
    readonly kind: 'soft' | 'hard';
    readonly consumed: number;
    readonly limit: number;
    readonly message?: string;
  };
  readonly passivation_requested: { readonly reason: string; readonly deadline_ms?: number };
  readonly peer_invocation: {
    readonly from_session_id: string;
    readonly from_tenant_id?: string;
    readonly correlation_id?: string;
  };
}

/** What a handler is given. */
export interface HookOccurrence<Event extends HookEvent = HookEvent> {
  readonly event_type: Event;
  readonly payload: HookSubject & HookPayloads[Event];
}

/**
 * What a handler answers; nothing is the same as `continue`.
 *
 * `continue` goes on, and of several `modified` values the last counts. `block` and `retry` end the list at once;
 * `retry` tells the model after how many milliseconds it may try again. `skip` ends the list too, as a plain `continue`
 * that drops what was modified before.
 */
export interface HookResult {
  readonly action?: 'continue' | 'block' | 'skip' | 'retry';
  readonly reason?: string;
  readonly delayMs?: number;
  /**
   * For `pre_tool_use` `{ args }`, for `permission_request` `{ decision: 'allow' | 'deny' }`, for `pre_prompt`
   * `{ prompt }`.
   */
  readonly modified?: JsonValue;
}

export type HookHandler<Event extends HookEvent = HookEvent> = (
  occurrence: HookOccurrence<Event>,
  signal: AbortSignal,
) => HookResult | null | undefined | void | Promise<HookResult | null | undefined | void>;

/** Which occurrences a hook is for; all that is given must fit. */
export interface HookMatcher {
  /** A tool's exact name. */
  readonly tool?: string;
  /** A glob for the `file_path`, or else the `path`, of the arguments. `*` does not cross `/`, `**` does. */
  readonly pathPattern?: string;
  /** A regular expression for the `command` of the arguments. */
  readonly commandPattern?: string;
  readonly sessionId?: string;
}

export interface HookConfig {
  /** Lower ones run first; 100 when absent. Equal ones run in the order of their registration. */
  readonly priority?: number;
  /** 30,000 when absent. */
  readonly timeoutMs?: number;
  /** An observing hook is not waited for. Without meaning for gating ones. */
  readonly asyncExecution?: boolean;
  /** How often a handler that threw or timed out is tried again; 0 when absent. */
  readonly maxRetries?: number;
}

/** A host's own code at a fixed point of a session. Without a handler it changes nothing. */
export interface Hook<Event extends HookEvent = HookEvent> {
  readonly id: string;
  readonly event: Event;
  readonly matcher?: HookMatcher;
  readonly config?: HookConfig;
  readonly handler?: HookHandler<Event>;
}

/** A hook with the types of its event, for plugins that provide several. */
export function defineHook<const Event extends HookEvent>(hook: Hook<Event>): Hook {
  return hook as unknown as Hook;
}
