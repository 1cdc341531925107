import { z } from 'zod';
import { defineEvent } from './define-event.js';
import { jsonValue } from './json.js';
import { usage } from './parts.js';
import { variable } from './variable.js';
import { usageOnWire } from './wire.js';

/** A typed failure as it is kept in facts: `code` is from the error table or a plugin's own. */
export const failure = z.strictObject({ code: z.string(), message: z.string(), data: jsonValue.exactOptional() });
export type Failure = z.output<typeof failure>;

/** One attempt at a turn begins. */
export const runStarted = defineEvent({
  type: 'RunStarted',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    runId: z.string(),
    turnId: z.string(),
    deciderVersion: z.int().positive(),
    resumedFrom: z.string().exactOptional(),
    /** What the session's last step relied on and this node does not have; the resume was told to go on without. */
    without: z.array(z.strictObject({ kind: z.string(), id: z.string() })).exactOptional(),
  }),
  wire: {
    type: 'agent_start',
    payload: (fact, lookup) => ({
      prompt: lookup.promptText(fact.turnId) ?? '',
      run_id: fact.runId,
      turn_id: fact.turnId,
      resumed_from: fact.resumedFrom,
    }),
  },
});

export const runStatus = z.enum(['completed', 'failed', 'cancelled', 'handed-over', 'superseded']);
export type RunStatus = z.output<typeof runStatus>;

/** One attempt at a turn ends; the turn ends with it unless it was handed over or superseded. */
export const runEnded = defineEvent({
  type: 'RunEnded',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    runId: z.string(),
    turnId: z.string(),
    status: runStatus,
    failure: failure.exactOptional(),
    steps: z.int().nonnegative(),
    usage,
  }),
  wire: {
    types: ['agent_end', 'error', 'run_ended'],
    project: (fact, lookup) => {
      const common = { run_id: fact.runId, turn_id: fact.turnId, usage: usageOnWire(fact.usage) };
      if (fact.status === 'failed') {
        const message = fact.failure?.message ?? 'The turn failed.';
        return [{ type: 'error', payload: { message, code: fact.failure?.code ?? 'PERDURE_INTERNAL', ...common } }];
      }
      if (fact.status === 'completed' || fact.status === 'cancelled') {
        const text = lookup.answerText(fact.turnId) ?? '';
        return [{ type: 'agent_end', payload: { text, ...common, meta: { status: fact.status } } }];
      }
      return [{ type: 'run_ended', payload: { ...common, status: fact.status } }];
    },
  },
});

/**
 * What steps are made with: the model, the tools, the system prompt, and the gates that a call passes with the digest
 * of the policy that they apply and, where they are data, the permission rules in it; also how long requests may be.
 * Digests are `sha256:<64 hex>`;
 * that of the tools covers names, descriptions and input schemas in order.
 */
export const stepSetup = z.strictObject({
  model: z.strictObject({ name: z.string(), provider: z.string(), modelId: z.string() }),
  tools: z.strictObject({ digest: z.string(), names: z.array(z.string()) }),
  system: z.string(),
  gates: z.array(z.string()),
  policy: z.string(),
  rules: jsonValue.exactOptional(),
  /** The model's window in tokens, and the share of it at which the conversation is compacted before a step. */
  context: z.strictObject({ window: z.int().positive(), compactAt: z.number().positive() }).exactOptional(),
  /** The variables that the tools are handed, by name; absent when there are none. */
  env: z.array(variable).exactOptional(),
});
export type StepSetup = z.output<typeof stepSetup>;

/** What a step sees, frozen when it starts and unchanged until it ends. */
export const stepView = z.strictObject({
  /** Digest of the setup. */
  setup: z.string(),
  /** Digest of the whole request: system, tools and history. */
  prompt: z.string(),
  /** How many messages the request holds, how often the conversation was compacted, and the running digest of it. */
  history: z.strictObject({
    messages: z.int().nonnegative(),
    compactions: z.int().nonnegative(),
    digest: z.string(),
  }),
});
export type StepView = z.output<typeof stepView>;

/**
 * A model call is about to be made. `joined` are the prompts whose messages the model sees for the first time; `setup`
 * is there when it is not that of the step before.
 */
export const stepStarted = defineEvent({
  type: 'StepStarted',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    stepId: z.string(),
    index: z.int().nonnegative(),
    joined: z.array(z.string()),
    view: stepView,
    setup: stepSetup.exactOptional(),
  }),
  wire: { type: 'turn_start', payload: (fact) => ({ turn: fact.index + 1, step_id: fact.stepId }) },
  isDetail: (fact) => fact.joined.length === 0 && fact.setup === undefined,
});

/** A step is over: its answer and all its calls are settled. The run may be resumed from here. */
export const stepCheckpointed = defineEvent({
  type: 'StepCheckpointed',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({ stepId: z.string(), index: z.int().nonnegative(), usage }),
  wire: {
    type: 'turn_end',
    payload: (fact) => ({ turn: fact.index + 1, step_id: fact.stepId, usage: usageOnWire(fact.usage) }),
  },
  isDetail: () => true,
});

/** A requested change took effect, or could not. */
export const changeApplied = defineEvent({
  type: 'ChangeApplied',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({ changeId: z.string(), failure: failure.exactOptional() }),
  wire: {
    type: 'change_applied',
    payload: (fact) => ({
      change_id: fact.changeId,
      success: fact.failure === undefined,
      error: fact.failure?.message,
      error_code: fact.failure?.code,
    }),
  },
});
