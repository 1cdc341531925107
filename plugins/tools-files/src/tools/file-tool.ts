import { randomUUID } from 'node:crypto';
import type { EffectContract, JsonValue } from '@perdure/events';
import { isPerdureError, PerdureError, type Reconciliation, type Tool, type ToolContext } from '@perdure/plugin-api';
import type { z } from 'zod';
import { isFileFailure, throwIfAborted } from '../failure.js';
import type { CallRecords } from '../effect/call-records.js';
import { permissionSubject, workspacePath, type WorkspacePath } from '../root/workspace-path.js';
import type { Root } from '../root/root.js';
import { failureOf } from '../root/system-error.js';

export interface FileToolSetting {
  readonly root: Root;
  readonly records: CallRecords;
}

/** One call, with the path checked by its text. */
export interface FileCall<Input> {
  readonly input: Input;
  readonly path: WorkspacePath;
  readonly root: Root;
  readonly records: CallRecords;
  readonly signal: AbortSignal;
  /** Idempotency key. */
  readonly key: string;
}

export interface FileToolDefinition<Schema extends z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Schema;
  readonly effect: EffectContract;
  /** The code for a path that does not exist. */
  readonly missing: 'file_not_found' | 'path_not_found';
  pathOf(input: z.output<Schema>): string;
  execute(call: FileCall<z.output<Schema>>): Promise<JsonValue>;
  reconcile?(call: FileCall<z.output<Schema>>): Promise<Reconciliation>;
}

/**
 * Makes a tool of a workspace. Whatever goes wrong in it is thrown as a failure that names the path as it was given.
 */
export function fileTool<Schema extends z.ZodType>(
  setting: FileToolSetting,
  definition: FileToolDefinition<Schema>,
): Tool {
  const callOf = (given: unknown, context: ToolContext | undefined): FileCall<z.output<Schema>> => {
    const input = checkedInput(definition, given);
    const path = workspacePath(setting.root.bases, definition.pathOf(input));
    return { input, path, ...setting, signal: signalOf(context), key: keyOf(context) };
  };
  const { reconcile } = definition;
  return {
    description: definition.description,
    inputSchema: definition.inputSchema,
    effect: definition.effect,
    trust: 'workspace',
    execute: async (given: never, context: ToolContext) => {
      const call = callOf(given, context);
      try {
        throwIfAborted(call.signal);
        return await definition.execute(call);
      } catch (error) {
        throw failureOf(error, call.path.given, definition.missing);
      }
    },
    ...(reconcile === undefined ? {} : { reconcile: reconciling(callOf, reconcile) }),
    permissionSubjects: (given: never) => {
      const parsed = definition.inputSchema.safeParse(given);
      return parsed.success ? [permissionSubject(setting.root.bases, definition.pathOf(parsed.data))] : [''];
    },
  };
}

/**
 * A call that the tool refuses for its arguments cannot have taken effect, and is refused again when it is repeated.
 */
function reconciling<Input>(
  callOf: (given: unknown, context: ToolContext) => FileCall<Input>,
  reconcile: (call: FileCall<Input>) => Promise<Reconciliation>,
): (given: never, context: ToolContext) => Promise<Reconciliation> {
  return async (given, context) => {
    try {
      return await reconcile(callOf(given, context));
    } catch (error) {
      if (isPerdureError(error)) return { status: 'voided' };
      if (!isFileFailure(error) || error.code === 'internal_error') throw error;
      // Without the workspace there is nothing to look at.
      return { status: error.code === 'path_not_found' ? 'unknown' : 'voided' };
    }
  };
}

function checkedInput<Schema extends z.ZodType>(
  definition: FileToolDefinition<Schema>,
  given: unknown,
): z.output<Schema> {
  const parsed = definition.inputSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue === undefined || issue.path.length === 0 ? 'input' : issue.path.join('.');
  throw new PerdureError('PERDURE_TOOL_INPUT', {
    tool: definition.name,
    field,
    reason: issue?.message ?? 'not valid',
  });
}

/** Outside the runtime, tools are also called by the AI SDK, which hands in no key and not always a signal. */
function signalOf(context: Partial<ToolContext> | undefined): AbortSignal {
  return context?.abortSignal ?? new AbortController().signal;
}

function keyOf(context: Partial<ToolContext> | undefined): string {
  return context?.idempotencyKey ?? randomUUID();
}
