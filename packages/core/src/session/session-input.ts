import { approvalMode, type Change, type JsonValue } from '@perdure/events';
import {
  PerdureError,
  type EraseOptions,
  type EventsOptions,
  type ResumeOptions,
  type SessionChange,
  type MutationOptions,
} from '@perdure/plugin-api';

/** Options from outside. Throws PERDURE_INPUT_INVALID; absent ones are empty. */
export function checkOptions<Options extends object>(
  options: Options | undefined,
  field = 'options',
): Partial<Options> {
  if (options === undefined) return {};
  if (!isObject(options)) throw invalidInput(field, 'it is an object');
  return options;
}

/** A text from outside that is not empty. Throws PERDURE_INPUT_INVALID. */
export function checkText(field: string, value: unknown): string {
  if (typeof value !== 'string' || value === '') throw invalidInput(field, 'it is a text that is not empty');
  return value;
}

/** Why something is stopped, if it is said. Throws PERDURE_INPUT_INVALID. */
export function checkReason(reason: unknown): string | undefined {
  if (reason !== undefined && typeof reason !== 'string') throw invalidInput('reason', 'it is a text');
  return reason;
}

/** Throws PERDURE_INPUT_INVALID for what cannot be called. */
export function checkListener<Listener>(listener: Listener): Listener {
  if (typeof listener !== 'function') throw invalidInput('listener', 'it is a function');
  return listener;
}

export function checkEventsOptions(options: EventsOptions | undefined): EventsOptions {
  const checked = checkOptions(options);
  const { from, signal } = checked;
  if (from !== undefined && typeof from !== 'string') throw invalidInput('from', 'it is the cursor of an event');
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw invalidInput('signal', 'it is an AbortSignal');
  return checked;
}

export function checkMutationOptions(options: MutationOptions | undefined): MutationOptions {
  const checked = checkOptions(options);
  const { from, onEnd } = checked;
  if (from !== undefined && typeof from !== 'string') throw invalidInput('from', 'it is a cursor');
  if (onEnd !== undefined && typeof onEnd !== 'function') throw invalidInput('onEnd', 'it is a function');
  return checked;
}

export function checkResumeOptions(options: ResumeOptions | undefined): ResumeOptions {
  const checked = checkOptions(options);
  const { takeOver, withoutMissing }: { readonly takeOver?: unknown; readonly withoutMissing?: unknown } = checked;
  const isFlag = (value: unknown): boolean => value === undefined || typeof value === 'boolean';
  if (!isFlag(takeOver)) throw invalidInput('takeOver', 'it is true or false');
  const isList = Array.isArray(withoutMissing) && withoutMissing.every((id) => typeof id === 'string');
  if (!isFlag(withoutMissing) && !isList) throw invalidInput('withoutMissing', 'it is true, false or a list of names');
  return checked;
}

export function checkEraseOptions(options: EraseOptions | undefined): EraseOptions {
  const checked = checkOptions(options);
  if (checked.cascade !== undefined && typeof checked.cascade !== 'boolean') {
    throw invalidInput('cascade', 'it is true or false');
  }
  checkReason(checked.reason);
  return checked;
}

/** What a session is to be changed in, one change for each member. `change` tells what facts know of variables. */
export function checkChanges(
  change: SessionChange,
  variablesOf: (env: Readonly<Record<string, string | null>>) => Change,
): readonly Change[] {
  if (!isObject(change)) throw invalidInput('change', 'it is an object');
  const { model, approvals, title, env, ...others } = change;
  const [other] = Object.keys(others);
  if (other !== undefined) throw invalidInput(other, 'a session has nothing of this name to be set');
  const changes: Change[] = [];
  if (approvals !== undefined) {
    const mode = approvalMode.safeParse(approvals);
    if (!mode.success) throw invalidInput('approvals', `it is one of ${approvalMode.options.join(', ')}`);
    changes.push({ kind: 'approvals', mode: mode.data });
  }
  const checked = env === undefined ? undefined : checkVariables('env', env);
  if (title !== undefined) changes.push({ kind: 'title', title: checkTitle(title) });
  if (model !== undefined || (changes.length === 0 && checked === undefined)) {
    if (typeof model !== 'string' || model === '') throw invalidInput('model', 'it is the name of a model');
    changes.push({ kind: 'model', model });
  }
  // Nothing is kept of variables beside a member that is refused.
  if (checked !== undefined) changes.push(variablesOf(checked));
  return changes;
}

/** Characters of a title that a host gives, at the most. */
const LONGEST_TITLE = 200;

/** A title from outside. Throws PERDURE_INPUT_INVALID. */
export function checkTitle(value: unknown): string {
  const title = typeof value === 'string' ? value.trim() : '';
  if (title === '' || title.length > LONGEST_TITLE) {
    throw invalidInput('title', `it has 1 to ${LONGEST_TITLE} characters`);
  }
  return title;
}

/** Longest name and longest value of a variable, and how many there may be. */
const LONGEST_NAME = 256;
const LONGEST_VALUE = 131_072;
const MOST_VARIABLES = 1_000;

/** Why something is no record of variables; the field is empty when it is none at all. */
export function variablesProblem(
  env: unknown,
  mayUnset: boolean,
): { readonly field: string; readonly reason: string } | undefined {
  if (!isObject(env)) return { field: '', reason: 'it is an object of names and values' };
  const entries = Object.entries(env) as [string, unknown][];
  if (entries.length > MOST_VARIABLES) return { field: '', reason: `it has at most ${MOST_VARIABLES} members` };
  for (const [name, value] of entries) {
    const field = name.slice(0, LONGEST_NAME);
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name) || name.length > LONGEST_NAME) {
      return { field, reason: 'a name has letters, digits and "_", and begins with no digit' };
    }
    if (value === null && mayUnset) continue;
    if (typeof value !== 'string' || value.includes('\0') || value.length > LONGEST_VALUE) {
      return { field, reason: `a value is a text without NUL, of at most ${LONGEST_VALUE} characters` };
    }
  }
  return undefined;
}

/** Variables from outside, `null` for one that is to go. Throws PERDURE_INPUT_INVALID, and tells no value. */
export function checkVariables(field: string, env: unknown): Readonly<Record<string, string | null>> {
  const problem = variablesProblem(env, true);
  if (problem !== undefined)
    throw invalidInput(problem.field === '' ? field : `${field}.${problem.field}`, problem.reason);
  return env as Readonly<Record<string, string | null>>;
}

/** A tool's name and what it is called with, as JSON has it. Throws PERDURE_INPUT_INVALID. */
export function checkCall(name: unknown, input: unknown): readonly [name: string, input: JsonValue] {
  return [checkText('name', name), asJson('input', input)];
}

/** A value as it is read back from its JSON: members that JSON cannot hold are left out. */
function asJson(field: string, value: unknown): JsonValue {
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch {
    text = undefined;
  }
  if (text === undefined) throw invalidInput(field, 'it is no JSON value');
  return JSON.parse(text) as JsonValue;
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function invalidInput(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
