import type { EffectContract, JsonValue } from '@perdure/events';

/**
 * A tool in the shape of the AI SDK, plus what a durable runtime must know of it.
 *
 * `inputSchema` is a Standard Schema (zod and others) that can tell its JSON Schema, or a JSON Schema itself, bare or
 * as `{ jsonSchema }`.
 */
export interface Tool {
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  execute(input: never, context: ToolContext): unknown;
  /** What may be done with a call that was started and never settled; `once` when absent. */
  readonly effect?: EffectContract;
  /** For `reconcile`: finds out what became of a call that may or may not have taken effect. */
  reconcile?(input: never, context: ToolContext): Promise<Reconciliation>;
  /** The texts that permission patterns are matched with: a path, a command. The arguments as JSON when absent. */
  permissionSubjects?(input: never): readonly string[];
  /** Why a person must agree to this call, whatever the rules say; `undefined` when nobody must. */
  confirmation?(input: never): string | undefined;
  /** The call fails after this many milliseconds; there is no limit when absent. */
  readonly timeoutMs?: number;
}

export type Tools = Readonly<Record<string, Tool>>;

export interface ToolContext {
  /** The runtime's id of the call. */
  readonly toolCallId: string;
  /** Aborts when the call's turn is stopped, the call times out or the runtime is disposed. */
  readonly abortSignal: AbortSignal;
  /** The same for every run of the call that may repeat its effect: hand it to the system that has the effect. */
  readonly idempotencyKey: string;
  readonly sessionId: string;
  /** The session's workspace, when it has one. */
  readonly workspace?: string;
}

/**
 * What became of a call: it took effect with this output; it did not, and its key can no longer take effect; or nobody
 * can tell.
 */
export type Reconciliation =
  | { readonly status: 'happened'; readonly output: JsonValue }
  | { readonly status: 'voided' }
  | { readonly status: 'unknown' };

/** Tools that a plugin brings to an agent. */
export interface ToolSource {
  readonly name: string;
  /**
   * The tools for a session's workspace. Called when a step boundary freezes a view; it must answer the same for the
   * same.
   */
  tools(context: { readonly workspace: string | undefined }): Tools;
}

/** What a tool throws to fail with a code that models and programs can rely on. */
export interface ToolFailure {
  readonly code: string;
  readonly message: string;
  readonly data?: JsonValue;
}
