import type { UserPart } from '@perdure/events';
import { promptText } from '@perdure/events';
import { PerdureError } from '@perdure/plugin-api';
import { matches } from '../hooks/hook-matcher.js';
import { askHooks } from '../hooks/run-hooks.js';
import { subjectOf } from '../turn/invocation-context-of.js';
import type { LoadedSession } from './loaded-session.js';
import type { ReadPrompt } from './prompt-input.js';

/**
 * What hooks make of a prompt before it is accepted: one with another text, or PERDURE_PROMPT_BLOCKED, and then nothing
 * was stored.
 */
export async function promptAfterHooks(
  prompt: ReadPrompt,
  { work, signal, index }: LoadedSession,
): Promise<ReadPrompt> {
  const { id } = work.key;
  const hooks = work
    .agent()
    .hooksAt('pre_prompt')
    .filter((hook) => matches(hook, { sessionId: id }));
  const isKnown =
    (prompt.promptId !== undefined && index.turnOf(prompt.promptId) !== undefined) ||
    (prompt.runId !== undefined && index.turnOfRunId(prompt.runId) !== undefined);
  if (hooks.length === 0 || isKnown) return prompt;
  const { state } = work.journal;
  const text = promptText(prompt.parts);
  const payload = { ...subjectOf(id, state), prompt: text, message_count: state.context.length };
  const outcome = await askHooks(hooks, { event_type: 'pre_prompt', payload }, signal);
  if (outcome.action !== 'continue') {
    throw new PerdureError('PERDURE_PROMPT_BLOCKED', { reason: work.redaction.redactText(outcome.reason) });
  }
  if (outcome.modified === undefined) return prompt;
  const modified = (outcome.modified as { readonly prompt?: unknown } | null)?.prompt;
  if (typeof modified !== 'string' || modified.trim() === '') {
    throw new PerdureError('PERDURE_PROMPT_BLOCKED', { reason: 'a hook modified something else than the prompt' });
  }
  return { ...prompt, parts: withText(prompt.parts, work.redaction.redact(modified)) };
}

/** The parts with one text in the place of their texts. */
function withText(parts: readonly UserPart[], text: string): readonly UserPart[] {
  return [{ type: 'text', text }, ...parts.filter(({ type }) => type !== 'text')];
}
