import { z } from 'zod';
import { defineEvent } from './define-event.js';
import { userPart, type UserPart } from './parts.js';
import { activePlugin } from './plugin.js';
import { failure } from './run.js';
import { variable } from './variable.js';

/**
 * A prompt is in the session for good. `mode` is `turn` when it opens a turn at once, `queue` when its turn waits for
 * the one that runs, and `steer` when it joins the running turn `turnId` at its next step boundary.
 */
export const promptAccepted = defineEvent({
  type: 'PromptAccepted',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    promptId: z.string(),
    turnId: z.string(),
    messageId: z.string(),
    mode: z.enum(['turn', 'queue', 'steer']),
    parts: z.array(userPart),
    /**
     * The id that the host chose for the first run of the turn that the prompt opens, and the digest of the prompt as
     * it was given: the same id again is the same start, unless it comes with another prompt.
     */
    run: z.strictObject({ runId: z.string(), digest: z.string() }).exactOptional(),
  }),
  wire: {
    type: 'prompt_accepted',
    payload: (fact) => ({
      prompt_id: fact.promptId,
      turn_id: fact.turnId,
      message_id: fact.messageId,
      mode: fact.mode,
      text: promptText(fact.parts),
      run_id: fact.run?.runId,
    }),
  },
});

/** A waiting prompt will not be answered. */
export const promptCancelled = defineEvent({
  type: 'PromptCancelled',
  version: 1,
  lane: 'input',
  schema: z.strictObject({ promptId: z.string(), reason: z.string() }),
  wire: { type: 'prompt_cancelled', payload: (fact) => ({ prompt_id: fact.promptId, reason: fact.reason }) },
});

/** Someone wants the turn to end. The metadata's actor says who. */
export const stopRequested = defineEvent({
  type: 'StopRequested',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    turnId: z.string(),
    reason: z.string().exactOptional(),
    /** The limit that the turn ends at: it fails, where a stop that somebody wanted cancels it. */
    failure: failure.exactOptional(),
  }),
  wire: {
    type: 'stop_requested',
    payload: (fact) => ({
      turn_id: fact.turnId,
      reason: fact.reason ?? fact.failure?.message,
      code: fact.failure?.code,
    }),
  },
});

/** What happens to calls that the rules leave open: people are asked, or one answer is given to all. */
export const approvalMode = z.enum(['ask', 'always-allow', 'deny']);
export type ApprovalMode = z.output<typeof approvalMode>;

/**
 * What a change asks for: another model by its name, another approval mode, or with `cap` one that no
 * other may be less strict than, as a session below another one is bound to; or a title; the system frozen as it is
 * now, remade, or let loose; the older part of the conversation summed up; or nothing of it shown to models any more;
 * variables set or taken away, of the session itself or of its agent; plugins added, replaced or removed, with all that
 * are there behind that.
 */
export const change = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('model'), model: z.string() }),
  z.strictObject({ kind: z.literal('system'), action: z.enum(['freeze', 'refresh', 'follow']) }),
  z.strictObject({ kind: z.literal('compact') }),
  z.strictObject({ kind: z.literal('clear') }),
  z.strictObject({ kind: z.literal('approvals'), mode: approvalMode, cap: z.literal(true).optional() }),
  z.strictObject({ kind: z.literal('title'), title: z.string() }),
  z.strictObject({
    kind: z.literal('env'),
    scope: z.enum(['agent', 'session']),
    set: z.array(variable),
    unset: z.array(z.string()),
  }),
  z.strictObject({ kind: z.literal('plugins'), plugins: z.array(activePlugin) }),
]);
export type Change = z.output<typeof change>;

/** A change that takes effect at the next step boundary, or at once when no turn runs. */
export const changeRequested = defineEvent({
  type: 'ChangeRequested',
  version: 1,
  lane: 'input',
  schema: z.strictObject({ changeId: z.string(), change }),
  wire: {
    type: 'change_requested',
    payload: ({ changeId, change: asked }) => ({
      change_id: changeId,
      ...asked,
      // What a value is told by is nobody's business outside the stream.
      ...(asked.kind === 'env' ? { set: asked.set.map(({ name }) => name) } : {}),
    }),
  },
});

/**
 * A slash command was run by whom the metadata's actor names. It is no part of the conversation: models never see it.
 * `input` and `output` are cut after 4,096 and 16,384 characters; `failure` stands in the place of an output.
 */
export const commandRan = defineEvent({
  type: 'CommandRan',
  version: 1,
  lane: 'input',
  schema: z.strictObject({
    commandId: z.string(),
    promptId: z.string().exactOptional(),
    name: z.string(),
    input: z.string(),
    output: z.string(),
    failure: failure.exactOptional(),
    startedAt: z.int(),
    endedAt: z.int(),
  }),
  wire: {
    type: 'command_ran',
    payload: (fact) => ({
      command_id: fact.commandId,
      prompt_id: fact.promptId,
      name: fact.name,
      input: fact.input,
      output: fact.output,
      success: fact.failure === undefined,
      error: fact.failure?.message,
      error_code: fact.failure?.code,
      started_at_ms: fact.startedAt,
      ended_at_ms: fact.endedAt,
    }),
  },
});

/** The text parts of a prompt, joined by line ends. */
export function promptText(parts: readonly UserPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
}
