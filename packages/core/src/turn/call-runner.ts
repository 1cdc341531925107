import type { ArtifactReference, PayloadOf } from '@perdure/events';
import { errorMessage, READ_ARTIFACT, reasonOf } from '@perdure/plugin-api';
import { CallChildren } from '../children/child-calls.js';
import type { AgentView } from '../host/agent-view.js';
import type { InvocationContext } from '../invoke/invocation-context.js';
import type { Kept, Leave } from '../invoke/call-lanes.js';
import { runTool, type CallParts, type ToolRun, type ToolRunOutcome } from '../invoke/tool-invoker.js';
import { excerptOf } from '../invoke/output-excerpt.js';
import type { CallState } from '../session/call-state.js';
import { assertLeased } from './assert-leased.js';
import { CallObjects } from '../objects/call-objects.js';
import { waitsInside } from '../session/waits-inside.js';
import type { SessionWork } from './session-work.js';
import type { CallSite } from './side-call.js';

/** A call that this process runs. */
export interface RunningCall {
  readonly call: CallState;
  /** Resolves when there is an outcome; never rejects. */
  readonly ended: Promise<void>;
  outcome?: PayloadOf<'ToolCallSettled'>;
  /** Waits no longer for a call that was told to end: it is settled as one that was broken off. */
  giveUp(): void;
}

/** Starts a call whose start is durable. */
export function startCall(call: CallState, site: CallSite, parts: CallParts): RunningCall {
  let giveUp: () => void = () => undefined;
  const givenUp = new Promise<PayloadOf<'ToolCallSettled'>>((resolve) => {
    giveUp = () => resolve(brokenOff(call, site.context));
  });
  const running: { -readonly [Key in keyof RunningCall]: RunningCall[Key] } = {
    call,
    ended: Promise.resolve(),
    giveUp: () => giveUp(),
  };
  const ran = runCall(call, site, parts).catch((error: unknown) => brokenCall(call, error, site.context));
  running.ended = Promise.race([ran, givenUp]).then((outcome) => {
    running.outcome = outcome;
  });
  return running;
}

/** What is said of a call that nobody waits for: only one that reads can be called cancelled. */
function brokenOff(call: CallState, { env }: InvocationContext): PayloadOf<'ToolCallSettled'> {
  const isRead = call.started?.effect === 'read';
  const code = isRead ? 'PERDURE_TOOL_CANCELLED' : 'PERDURE_TOOL_UNKNOWN_OUTCOME';
  const failure = { code, message: errorMessage(code, { tool: call.name }) };
  return { callId: call.callId, status: isRead ? 'cancelled' : 'unknown', failure, endedAt: env.clock.now() };
}

/** Whatever goes wrong around a call, it is settled: it may have had its effect. */
function brokenCall(call: CallState, error: unknown, { env }: InvocationContext): PayloadOf<'ToolCallSettled'> {
  const effect = call.started?.effect ?? 'once';
  const code = effect === 'read' ? 'PERDURE_TOOL_FAILED' : 'PERDURE_TOOL_UNKNOWN_OUTCOME';
  const message = errorMessage(code, { tool: call.name, reason: reasonOf(error) });
  const status = effect === 'read' ? 'failed' : 'unknown';
  return { callId: call.callId, status, failure: { code, message }, endedAt: env.clock.now() };
}

async function runCall(call: CallState, site: CallSite, parts: CallParts): Promise<PayloadOf<'ToolCallSettled'>> {
  const { agent, work, context } = site;
  const tool = agent.toolSet(context.workspace).tools.get(call.name);
  if (tool === undefined) {
    const failure = {
      code: 'PERDURE_TOOL_UNKNOWN',
      message: errorMessage('PERDURE_TOOL_UNKNOWN', { tool: call.name }),
    };
    return { callId: call.callId, status: 'failed', failure, endedAt: context.env.clock.now() };
  }
  const run: ToolRun = {
    call,
    tool,
    idempotencyKey: call.started?.idempotencyKey ?? '',
    secrets: work.secrets,
    parts,
    waits: {
      isWaiting: () => waitsInside(work.journal.state, call.callId),
      onChange: (look) => work.journal.onCommit(look),
    },
    objects: new CallObjects(call, site),
    children: new CallChildren(call, site),
  };
  const turn = await agent.parts.lanes.enter(call, tool, context.signal);
  if (typeof turn !== 'function') return keptCall(call, turn, context);
  const outcome = await inTurn(run, site, turn);
  const reader = agent.toolSet(context.workspace).tools.has(READ_ARTIFACT) ? READ_ARTIFACT : undefined;
  return { callId: call.callId, ...(await bounded(outcome, agent, work, reader)), trust: tool.trust };
}

/** The node may have been counted as dead while the call waited. */
async function inTurn(run: ToolRun, { work, held, context }: CallSite, leave: Leave): Promise<ToolRunOutcome> {
  try {
    await assertLeased(work, held);
    return await runTool(run, context);
  } finally {
    leave();
  }
}

/** A call that did not come to its turn had no effect. */
function keptCall({ callId, name: tool }: CallState, kept: Kept, { env }: InvocationContext) {
  const failure =
    kept === 'aborted'
      ? { code: 'PERDURE_TOOL_CANCELLED', message: errorMessage('PERDURE_TOOL_CANCELLED', { tool }) }
      : {
          code: 'PERDURE_TOOL_LANE_TIMEOUT',
          message: errorMessage('PERDURE_TOOL_LANE_TIMEOUT', { tool, lane: kept.lane, ms: kept.waitedMs }),
        };
  const status = kept === 'aborted' ? ('cancelled' as const) : ('failed' as const);
  return { callId, status, failure, endedAt: env.clock.now() };
}

/** Characters that are kept of what a tool says of its failure. */
const LONGEST_FAILURE = 16_384;
const LONGEST_CODE = 200;

type Bounded = Omit<PayloadOf<'ToolCallSettled'>, 'callId'>;

/**
 * An output that is larger than a model should see, or than a fact may be, goes to the artifact store whole and to the
 * fact as an excerpt.
 */
async function bounded(
  outcome: ToolRunOutcome,
  agent: AgentView,
  work: SessionWork,
  reader: string | undefined,
): Promise<Bounded> {
  const { output } = outcome;
  if (output === undefined) return { ...outcome, ...boundedFailure(outcome) };
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  // A character may take six bytes in a fact, and there must be room for the rest of it.
  const limit = Math.min(agent.parts.limits.maxOutputCharacters, Math.floor(work.store.limits.maxEventBytes / 8));
  if (text.length <= limit) return outcome;
  const artifact = await keepWhole(text, typeof output === 'string', work);
  return {
    ...outcome,
    output: excerptOf(text, limit, artifact && { digest: artifact.digest, reader }),
    ...(artifact === undefined ? {} : { artifact }),
  };
}

/** What a tool says of its failure, as far as a fact has room for it. */
function boundedFailure({ failure }: ToolRunOutcome): Pick<ToolRunOutcome, 'failure'> {
  if (failure === undefined) return {};
  const { code, message, data } = failure;
  const isSmall = data === undefined || JSON.stringify(data).length <= LONGEST_FAILURE;
  return {
    failure: {
      code: code.slice(0, LONGEST_CODE),
      message: message.length <= LONGEST_FAILURE ? message : excerptOf(message, LONGEST_FAILURE, undefined),
      ...(data === undefined ? {} : { data: isSmall ? data : null }),
    },
  };
}

async function keepWhole(text: string, isText: boolean, work: SessionWork): Promise<ArtifactReference | undefined> {
  const bytes = new TextEncoder().encode(text);
  const { store } = work.files.ground;
  if (store === undefined || bytes.length > store.limits.maxBytes) return undefined;
  try {
    const digest = await store.put(work.key.tenant, bytes);
    return { digest, bytes: bytes.length, mediaType: isText ? 'text/plain' : 'application/json' };
  } catch (error) {
    // The excerpt says that the rest is not kept; the call has had its effect and must be settled.
    work.logger.log('error', 'An output could not be stored whole.', { reason: reasonOf(error) });
    return undefined;
  }
}

/** What is in the artifact store of an outcome. */
export function artifactsOf({ artifact, files = [] }: PayloadOf<'ToolCallSettled'>): readonly ArtifactReference[] {
  return [artifact, ...files.map((file) => file.artifact)].filter((kept) => kept !== undefined);
}
