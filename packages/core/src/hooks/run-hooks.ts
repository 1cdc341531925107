import type { JsonValue } from '@perdure/events';
import {
  errorMessage,
  hookPoints,
  isPerdureError,
  reasonOf,
  type Hook,
  type HookEvent,
  type HookOccurrence,
  type HookResult,
} from '@perdure/plugin-api';
import { withTimeout } from '../invoke/with-timeout.js';

const PRIORITY = 100;
const TIMEOUT_MS = 30_000;
const RETRY_DELAY_MS = 1_000;

/** What all hooks of a point together say. */
export type HookOutcome =
  | { readonly action: 'continue'; readonly modified: JsonValue | undefined; readonly reason?: string }
  | { readonly action: 'block'; readonly hook: string; readonly reason: string; readonly hasFailed: boolean }
  | { readonly action: 'retry'; readonly hook: string; readonly reason: string; readonly delayMs: number };

/** Hooks in the order in which they run. */
export function inOrder(hooks: readonly Hook[]): readonly Hook[] {
  return [...hooks].sort((a, b) => (a.config?.priority ?? PRIORITY) - (b.config?.priority ?? PRIORITY));
}

/** Asks the hooks of a gating point, one after the other. Never throws: an error or a time-out blocks. */
export async function askHooks<Event extends HookEvent>(
  hooks: readonly Hook[],
  occurrence: HookOccurrence<Event>,
  signal: AbortSignal,
): Promise<HookOutcome> {
  let modified: JsonValue | undefined;
  let reason: string | undefined;
  for (const hook of hooks) {
    let result: HookResult;
    try {
      result = await runHook(hook, occurrence, signal);
    } catch (error) {
      const cause = isPerdureError(error) ? error.message : reasonOf(error);
      const reason = errorMessage('PERDURE_GATE_FAILED', { gate: `hook:${hook.id}`, reason: cause });
      return { action: 'block', hook: hook.id, reason, hasFailed: true };
    }
    switch (result.action ?? 'continue') {
      case 'continue':
        if (result.modified !== undefined) ({ modified, reason } = result);
        break;
      case 'skip':
        return { action: 'continue', modified: undefined };
      case 'block':
        return { action: 'block', hook: hook.id, reason: result.reason ?? 'Blocked', hasFailed: false };
      case 'retry': {
        const { reason = 'Hook requested a retry', delayMs = RETRY_DELAY_MS } = result;
        return { action: 'retry', hook: hook.id, reason, delayMs };
      }
    }
  }
  return { action: 'continue', modified, ...(reason === undefined ? {} : { reason }) };
}

/**
 * Tells the hooks of an observing point. Resolves when all of them but those that nobody waits for have ended; what
 * they throw is reported and changes nothing.
 */
export async function tellHooks<Event extends HookEvent>(
  hooks: readonly Hook[],
  occurrence: HookOccurrence<Event>,
  signal: AbortSignal,
  report: (hook: Hook, error: unknown) => void,
): Promise<void> {
  for (const hook of hooks) {
    const told = runHook(hook, occurrence, signal).catch((error: unknown) => report(hook, error));
    if (hook.config?.asyncExecution !== true) await told;
  }
}

/** Runs one handler, again when it fails and may be tried again. Throws its last error, or that its answer is none. */
async function runHook(hook: Hook, occurrence: HookOccurrence, signal: AbortSignal): Promise<HookResult> {
  const { handler } = hook;
  if (handler === undefined) return {};
  const { timeoutMs = TIMEOUT_MS, maxRetries = 0 } = hook.config ?? {};
  for (let tries = 0; ; tries++) {
    try {
      const answer: unknown = await withTimeout(timeoutMs, signal, async (inner) => handler(occurrence, inner));
      return hookPoints[hook.event].isGating ? checkResult(answer) : {};
    } catch (error) {
      if (tries >= maxRetries || signal.aborted) throw error;
    }
  }
}

/** Characters of JSON that a hook may put in the place of what there was. */
const LONGEST_MODIFIED = 128 * 1024;

/** A copy that has nothing of the hook's own in it. Throws for what is not JSON, or is too much. */
function plainJson(modified: unknown): JsonValue {
  const text = JSON.stringify(modified) as string | undefined;
  if (text === undefined) throw new TypeError('what it modified is not JSON');
  if (text.length > LONGEST_MODIFIED) throw new TypeError(`what it modified has ${text.length} characters`);
  return JSON.parse(text) as JsonValue;
}

const ACTIONS: ReadonlySet<unknown> = new Set([undefined, 'continue', 'block', 'skip', 'retry']);

function checkResult(answer: unknown): HookResult {
  if (answer === undefined || answer === null) return {};
  const result = answer as HookResult;
  if (typeof answer !== 'object' || !ACTIONS.has(result.action)) {
    throw new TypeError('it answered none of continue, block, skip and retry');
  }
  const isWrong =
    (result.reason !== undefined && typeof result.reason !== 'string') ||
    (result.delayMs !== undefined && !(Number.isFinite(result.delayMs) && result.delayMs >= 0));
  if (isWrong) throw new TypeError('its reason is no text or its delay is no number of milliseconds');
  const { action, reason, delayMs, modified } = result;
  return {
    ...(action === undefined ? {} : { action }),
    ...(reason === undefined ? {} : { reason }),
    ...(delayMs === undefined ? {} : { delayMs }),
    ...(modified === undefined ? {} : { modified: plainJson(modified) }),
  };
}
