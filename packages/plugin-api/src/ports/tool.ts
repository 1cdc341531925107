import type { EffectContract, JsonValue, TrustLabel } from '@perdure/events';
import { PerdureError } from '../errors/perdure-error.js';
import type { ObjectRequest, ObjectResult } from '../session/object.js';
import type { ToolOutcome } from '../session/turn.js';
import type { ScopedChildren } from './delegation.js';
import type { AskOptions, AskOutcome, QuestionSet } from './question-set.js';
import type { SessionArtifacts } from './tool-file.js';

/**
 * A tool in the shape of the AI SDK, plus what a durable runtime must know of it.
 *
 * `inputSchema` is a Standard Schema (zod and others) that can tell its JSON Schema, or a JSON Schema itself, bare or
 * as `{ jsonSchema }`.
 */
export interface Tool {
  readonly description?: string | undefined;
  readonly inputSchema: unknown;
  /**
   * Has the effect. Every tool has this or `questions`, and never both. What it gives is JSON; `withFiles` puts files
   * beside it.
   */
  execute?(input: never, context: ToolContext): unknown;
  /**
   * What people are asked. The call is then nothing else: it waits, as facts and without a process, and its output
   * is `{ answers }`, with `isDefault: true` where they are those of the expiry. Rules can deny such a call or have
   * someone agree to it; where none says anything it needs nobody's approval, because all that it does is to show a
   * person something. It must answer the same for the same.
   */
  questions?(input: never): QuestionSet;
  /** What may be done with a call that was started and never settled; `once` when absent, `read` with `questions`. */
  readonly effect?: EffectContract;
  /**
   * Where its output comes from; `external` when absent, and `trusted` with `questions`. External output holds what
   * anyone may have written: agents can have it marked for models.
   */
  readonly trust?: TrustLabel;
  /** For `reconcile`: finds out what became of a call that may or may not have taken effect. */
  reconcile?(input: never, context: ToolContext): Promise<Reconciliation>;
  /** The texts that permission patterns are matched with: a path, a command. The arguments as JSON when absent. */
  permissionSubjects?(input: never): readonly string[];
  /** Why a person must agree to this call, whatever the rules say; `undefined` when nobody must. */
  confirmation?(input: never): string | undefined;
  /** Which calls it waits for where an agent limits how many run at once: `query` for `read`, else `execute`. */
  readonly lane?: string;
  /** The call fails after this many milliseconds, but for those in which it waits for people; no limit when absent. */
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
  /** The session's variables, as its step began with them; absent when it has none. Secrets are resolved in them. */
  readonly env?: Readonly<Record<string, string>>;
  /** Makes calls of other tools as parts of this one. */
  readonly calls: ScopedInvoker;
  /** The artifacts that the session's facts name. Absent where a tool is run without a session. */
  readonly artifacts?: SessionArtifacts;
  /** Hands work to sessions of their own. Absent where none can be: in a test, and where a tool tells what happened. */
  readonly children?: ScopedChildren;
  /**
   * Asks people in the middle of the call, and waits for them: the question is a fact before it is shown, like that of
   * a tool with `questions`, and anyone who may answer those may answer it or decline. The time limits of the call and
   * of its turn stand still meanwhile. A call that is run again after a crash and asks the same has the same question,
   * with its answer if there is one; of a call that is not run again the question is taken back. Rejects with
   * PERDURE_INPUT_INVALID for a set that is none, PERDURE_TOOL_CALL_OVER when the call or its turn ends first, and
   * PERDURE_TOOL_CALL_LIMIT. Absent as `children` is.
   */
  ask?(questions: QuestionSet, options?: AskOptions): Promise<AskOutcome>;
  /**
   * Has a model make an object, as `session.generateObject` does: with the budget, the hooks and the repairs of that.
   * It ends with the call. Absent as `children` is.
   */
  generateObject?(request: ObjectRequest): Promise<ObjectResult<unknown>>;
}

/**
 * The way for a tool to call others, in the place of a registry of them. Each part passes all gates as the model's own
 * calls do and is settled once: when the whole is run again after a crash, a part that has an outcome gives that, and
 * one without is repeated as its own effect contract allows. A part is known by its tool, its arguments and how often
 * the whole has asked for the same, so a tool that asks for the same parts again gets the same outcomes.
 */
export interface ScopedInvoker {
  /** What may be done with a call of a tool that was started and never settled; `undefined` when there is no such. */
  effectOf(tool: string): EffectContract | undefined;
  /**
   * Resolves with what came of the part, whatever that is. Throws PERDURE_INPUT_INVALID for arguments that are not
   * JSON, PERDURE_TOOL_CALL_OVER when the whole has ended, and PERDURE_TOOL_CALL_LIMIT over the limit of parts.
   */
  call(tool: string, input: JsonValue): Promise<ToolOutcome>;
}

/** For a tool that is run by itself, in a test or a check: it makes no other calls. */
export const noCalls: ScopedInvoker = {
  effectOf: () => undefined,
  call: (tool) => Promise.reject(new PerdureError('PERDURE_TOOL_CALL_OVER', { tool })),
};

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
