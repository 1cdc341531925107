import { z } from 'zod';
import { defineEvent } from './define-event.js';
import { approvalMode } from './input.js';
import { jsonValue } from './json.js';
import { usage } from './parts.js';
import { failure } from './run.js';
import { usageOnWire } from './wire.js';

/**
 * What narrows the agent of a session, as data: whoever runs the session, on whatever node, applies it to the agent
 * that is there. Nothing in it can give the session more than that agent has.
 */
export const sessionProfile = z.strictObject({
  /** The name of the definition that it was made of. */
  agent: z.string(),
  /** What the model is told in the place of the agent's own instruction. */
  instruction: z.array(z.string()),
  readOnly: z.literal(true).exactOptional(),
  /** Lists of tools, exact names or beginnings that end in `*`: a tool must be in all of them. */
  tools: z.array(z.array(z.string())),
  /** Permission rules. A call is allowed when all allow it, and denied when one denies it. */
  rules: z.array(jsonValue),
  /** The session's approval mode is this one or a stricter one. */
  approvals: approvalMode.exactOptional(),
  /** Model calls of one turn. */
  maxSteps: z.int().positive().exactOptional(),
});
export type SessionProfile = z.output<typeof sessionProfile>;

/** Where the work of a child session comes from. */
export const delegation = z.strictObject({
  /** The call of the parent that started it, and its place among the children of that call. */
  callId: z.string(),
  index: z.int().nonnegative(),
  parentEpoch: z.int().nonnegative(),
  /** The turn that the work is. */
  turnId: z.string(),
  /** 1 for a child of a session that is itself nobody's child. */
  depth: z.int().positive(),
  /** How many sessions the child may have started below it, by itself and by those below it. */
  quota: z.int().nonnegative(),
});
export type Delegation = z.output<typeof delegation>;

/** A child session is about to be made: it has all that whoever makes it needs, but for the prompt. */
export const childStarted = defineEvent({
  type: 'ChildStarted',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    childId: z.string(),
    description: z.string(),
    /** Absent when the call waits for the child. */
    background: z.literal(true).exactOptional(),
    model: z.string().exactOptional(),
    delegation,
    profile: sessionProfile,
  }),
  wire: {
    type: 'subagent_start',
    payload: ({ childId, description, background, delegation: { callId, index }, profile: { agent } }) => ({
      task_id: childId,
      session_id: childId,
      tool_id: callId,
      index,
      agent,
      description,
      background: background ?? false,
    }),
  },
});

export const childStatus = z.enum(['completed', 'failed', 'cancelled']);
export type ChildStatus = z.output<typeof childStatus>;

/** How a child session ended, copied from its stream. */
export const childEnded = defineEvent({
  type: 'ChildEnded',
  version: 1,
  lane: 'owner',
  schema: z.strictObject({
    childId: z.string(),
    callId: z.string(),
    agent: z.string(),
    status: childStatus,
    /** The last answer, or the beginning and the end of a long one, and how many characters it has. */
    text: z.string(),
    characters: z.int().nonnegative(),
    failure: failure.exactOptional(),
    usage,
    /** How many sessions were started below it. */
    descendants: z.int().nonnegative(),
  }),
  wire: {
    type: 'subagent_end',
    payload: (fact) => ({
      task_id: fact.childId,
      session_id: fact.childId,
      tool_id: fact.callId,
      agent: fact.agent,
      output: fact.text,
      success: fact.status === 'completed',
      status: fact.status,
      error: fact.failure?.message,
      error_code: fact.failure?.code,
      usage: usageOnWire(fact.usage),
    }),
  },
});
