import type { ControlPlane, JsonValue } from '@perdure/events';
import type { ToolOutcome } from '@perdure/plugin-api';
import type { AgentView } from '../host/agent-view.js';
import { askGate, decideCall, type CallDecision } from '../invoke/decide-call.js';
import { denial } from '../invoke/gates/gate-step.js';
import type { InvocationContext } from '../invoke/invocation-context.js';
import { reconcileTool, type CallParts } from '../invoke/tool-invoker.js';
import { newCall } from '../session/evolve-call.js';
import { draftFact } from '../session/fact-batch.js';
import type { Ownership } from '../session/ownership.js';
import type { CallOutcome, CallState } from '../session/call-state.js';
import { refuseArchived } from '../session/refuse-archived.js';
import { startCall } from './call-runner.js';
import { NestedCalls, type Nesting } from './nested-calls.js';
import { approvalPayload, decisionPayload, recordIntent } from './record-intent.js';
import type { SessionWork } from './session-work.js';
import { broken, factPlace, owned, settle, unknownOutcome } from './settle-side-call.js';
import { askPeople } from './ask-people.js';
import { callBeside, decidedIn, isStopped, sideContext, untilAnswered } from './side-call-state.js';

/** A call that no answer of a model holds: of the host, or a part of another call. */
export interface SideCall {
  readonly callId: string;
  readonly name: string;
  readonly input: JsonValue;
  readonly origin: 'host' | 'nested';
  readonly parent?: string;
  readonly plane?: ControlPlane;
  readonly isTrusted: boolean;
  /** Names of the tools of which it is a part, the outermost first. */
  readonly within: readonly string[];
}

/** Where calls are made: the session that this node owns, and the agent as it is for them. */
export interface CallSite {
  readonly work: SessionWork;
  readonly held: Ownership;
  readonly agent: AgentView;
  readonly context: InvocationContext;
  /** The session leaves this node: what is broken off is settled by whoever goes on. */
  readonly isHandingOver: () => boolean;
}

/**
 * Makes a call beside those of the turn: the same gates, the same facts, the same invoker. It waits for a person in
 * this process. A part that an earlier run of its whole made already is not repeated: it goes on from where it stood.
 */
export async function makeSideCall(request: SideCall, site: CallSite): Promise<ToolOutcome> {
  const known = callBeside(site.work.journal.state, request.callId);
  if (known?.outcome !== undefined) return outcomeOf(request, known.outcome);
  const ready = known?.decision === undefined ? await decide(request, known, site) : known;
  if ('status' in ready) return outcomeOf(request, ready);
  if (ready.decision?.decision === 'deny') {
    return outcomeOf(request, await settle(request, { status: 'denied', failure: ready.decision.failure }, site));
  }
  const before = known?.started === undefined ? 'unstarted' : await leftBehind(ready, site);
  if (typeof before === 'object') return outcomeOf(request, await settle(request, before, site));
  return outcomeOf(request, await run(request, ready, before, site));
}

/** What a running call makes its parts with. */
export function partsOf(call: CallState, nesting: Nesting, site: CallSite): CallParts {
  return new NestedCalls(call, nesting, site, makeSideCall, askPeople);
}

/** Leads the call through its gates, with a person's answer between them where they want one. */
async function decide(
  request: SideCall,
  known: CallState | undefined,
  site: CallSite,
): Promise<CallState | CallOutcome> {
  const { work, agent, context } = site;
  const { redaction, journal, env } = work;
  let call: CallState = known ?? stateOf(request, redaction.redact(request.input));
  for (;;) {
    if (call.approval !== undefined && call.approval.answer === undefined) {
      const answered = await untilAnswered(journal, request.callId, context.signal);
      if (answered === undefined) return broken(request, site);
      call = answered;
    }
    const governance = { ...agent.governance(context.workspace, request.isTrusted), within: request.within };
    const decision = withoutQuestions(request.name, await decideCall(call, governance, context, askGate));
    // What the end took away was not decided.
    if (context.signal.aborted) return broken(request, site);
    const hits = decision.hits.map((hit) => draftFact('BudgetThresholdHit', hit, ...factPlace(site)));
    const question = approvalPayload(call, decision, agent, () => env.clock.now());
    const plane = request.plane === undefined ? {} : { plane: request.plane };
    const said =
      question === undefined
        ? draftFact(
            'ToolCallDecided',
            { ...decisionPayload(call, decision, agent.policy), ...plane },
            ...factPlace(site),
          )
        : draftFact('ApprovalRequested', question, ...factPlace(site));
    const next = await owned(site, (batch) => {
      refuseArchived(batch.state, work.key.id);
      for (const hit of hits) batch.keep(hit);
      batch.keep(said);
      return decidedIn(batch, request.callId, work);
    });
    if (question === undefined) return next;
    call = 'status' in next ? call : next;
  }
}

/** A call that asks people waits without a process, and whoever makes a call beside the turn waits in one. */
function withoutQuestions(tool: string, decision: CallDecision): CallDecision {
  if (decision.hasQuestions === undefined) return decision;
  const { hasQuestions: _, ...rest } = decision;
  return { ...rest, decision: 'deny', gates: [...decision.gates, denial('questions', 'PERDURE_TOOL_ASKS', { tool })] };
}

/** Starts the call and settles it with what it comes to. */
async function run(
  request: SideCall,
  call: CallState,
  before: 'unstarted' | 'again',
  site: CallSite,
): Promise<CallOutcome> {
  const { work, held } = site;
  const attempt = before === 'again' ? (call.started?.attempt ?? 0) + 1 : 1;
  const started =
    before === 'unstarted' && call.started?.epoch === held.epoch
      ? call
      : await owned(site, (batch) => {
          if (isStopped(batch.state, call)) return undefined;
          recordIntent(batch, { do: 'start-call', call, attempt }, sideContext(work));
          return callBeside(batch.state, call.callId) ?? call;
        });
  if (started === undefined) {
    // What an earlier run of the whole had started may have had its effect.
    const mayHaveHappened = before === 'again' && call.started?.effect !== 'read';
    return mayHaveHappened ? settle(request, unknownOutcome(request), site) : broken(request, site);
  }
  const running = startCall(started, site, partsOf(started, request, site));
  await running.ended;
  const outcome = running.outcome ?? unknownOutcome(request);
  const wasBroken = outcome.status === 'cancelled' || outcome.status === 'unknown';
  if (request.origin === 'nested' && wasBroken && site.isHandingOver()) return outcome;
  return settle(request, outcome, site);
}

/** By its effect contract: what may be done with a part that an earlier run of its whole started. */
async function leftBehind(call: CallState, { work, agent, context }: CallSite): Promise<'again' | CallOutcome> {
  const effect = call.started?.effect ?? 'once';
  if (effect === 'read' || effect === 'idempotent') return 'again';
  const tool = agent.toolSet(context.workspace).tools.get(call.name);
  if (effect === 'once' || tool === undefined) return unknownOutcome(call);
  const idempotencyKey = call.started?.idempotencyKey ?? '';
  const answer = await reconcileTool({ call, tool, idempotencyKey, secrets: work.secrets }, context);
  if (answer.status === 'voided') return 'again';
  return answer.status === 'happened' ? { status: 'completed', output: answer.output } : unknownOutcome(call);
}

function stateOf({ callId, name, origin, parent }: SideCall, input: JsonValue): CallState {
  return { ...newCall(callId, name), origin, ...(parent === undefined ? {} : { parent }), input };
}

function outcomeOf({ callId, name }: SideCall, { status, output, artifact, files, failure }: CallOutcome): ToolOutcome {
  return {
    callId,
    name,
    status,
    ...(output === undefined ? {} : { output }),
    ...(artifact === undefined ? {} : { artifact }),
    ...(files === undefined ? {} : { files }),
    ...(failure === undefined ? {} : { failure }),
  };
}
