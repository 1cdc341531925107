import type { CoreType, PayloadOf } from '@perdure/events';
import { errorMessage, type Message } from '@perdure/plugin-api';
import type { DecidedCompaction } from '../compose/compaction-planner.js';
import { digestConversation } from '../compose/conversation-digest.js';
import { estimateTokens } from '../compose/message-size.js';
import type { AgentView } from '../host/agent-view.js';
import { matches } from '../hooks/hook-matcher.js';
import { askHooks } from '../hooks/run-hooks.js';
import type { InvocationContext } from '../invoke/invocation-context.js';
import { draftFact, type DraftedFact } from '../session/fact-batch.js';
import type { SessionState } from '../session/session-state.js';
import type { SessionWork } from './session-work.js';
import { summarise, type Summary } from './summarise.js';

/** Where a conversation is compacted. */
export interface CompactionSite {
  readonly work: SessionWork;
  readonly context: InvocationContext;
  readonly epoch: number;
  readonly controller: AbortController;
}

/**
 * Compacts a conversation because somebody asked. A hook or a budget that says no has the change fail; a model that
 * does not manage is done without. A change that fails leaves the conversation as it was.
 */
export async function compactByRequest(changeId: string, site: CompactionSite): Promise<readonly DraftedFact[]> {
  const { work, context } = site;
  const agent = work.agent();
  const plan = work.composer.planCompaction(work.journal.state, agent, [], 'request');
  const applied = (failure?: PayloadOf<'ChangeApplied'>['failure']): DraftedFact =>
    factOf(site, 'ChangeApplied', { changeId, ...(failure && { failure }) });
  if (plan === undefined) return [applied()];
  const blocked = await blockedByHook(plan, work.journal.state, agent, context);
  if (context.signal.aborted) return [];
  if (blocked !== undefined) return [applied(blocked)];
  const summary = await summaryFor(changeId, plan, agent, site);
  if (summary.status === 'aborted') return [];
  if (summary.status === 'denied') return [...summary.facts, applied(summary.failure)];
  const compacted = smallestOf(plan, summary, site, changeId);
  return [...summary.facts, ...(compacted === undefined ? [] : [compacted]), applied()];
}

/**
 * Compacts a conversation because its next request would be too long, or was. It always comes about: where a hook or a
 * budget says no, or the model does not manage, it is done without a model.
 */
export async function compactForStep(plan: DecidedCompaction, site: CompactionSite): Promise<readonly DraftedFact[]> {
  const { work, context } = site;
  const { state } = work.journal;
  const agent = work.agent();
  const blocked = await blockedByHook(plan, state, agent, context);
  if (context.signal.aborted) return [];
  const callId = `${context.turnId ?? work.key.id}.compaction.${state.compactions}`;
  const summary: Summary =
    blocked === undefined
      ? await summaryFor(callId, plan, agent, site)
      : { status: 'denied', facts: [], failure: blocked };
  if (summary.status === 'aborted') return [];
  return [...summary.facts, compactedBy(plan, summary, site)];
}

/** The members of the fact that follow from the plan and what was said. */
export function compactedPayload(
  plan: DecidedCompaction,
  said: { readonly method: 'model' | 'fallback'; readonly summary: string; readonly changeId?: string },
): PayloadOf<'HistoryCompacted'> {
  const { reason, summarised, kept, prompts, tokensBefore, window, correction } = plan;
  return {
    ...(said.changeId === undefined ? {} : { changeId: said.changeId }),
    reason,
    method: said.method,
    summary: said.summary,
    summarised,
    kept,
    ...(prompts.length === 0 ? {} : { prompts: [...prompts] }),
    tokensBefore,
    tokensAfter: plan.remainingTokens + Math.ceil(estimateTokens(said.summary.length) * correction),
    window,
    correction,
  };
}

/** What makes the request smaller: the summary, or what is made without a model; `undefined` when neither does. */
function smallestOf(
  plan: DecidedCompaction,
  summary: Exclude<Summary, { readonly status: 'aborted' }>,
  site: CompactionSite,
  changeId: string,
): DraftedFact | undefined {
  const withoutModel = { status: 'failed', facts: [], failure: undefined } as const;
  const tried = summary.status === 'written' ? [summary, withoutModel] : [summary];
  return tried
    .map((each) => compactedBy(plan, each, site, changeId))
    .find(({ payload: { tokensBefore = 0, tokensAfter = 0 } }) => tokensAfter < tokensBefore);
}

function compactedBy(
  plan: DecidedCompaction,
  summary: Exclude<Summary, { readonly status: 'aborted' }>,
  site: CompactionSite,
  changeId?: string,
): DraftedFact<'HistoryCompacted'> {
  const { state } = site.work.journal;
  const request = changeId === undefined ? {} : { changeId };
  const said =
    summary.status === 'written'
      ? { method: 'model' as const, summary: summary.text }
      : {
          method: 'fallback' as const,
          summary: digestConversation(summarisedMessages(plan, state), state.summary, plan.summaryTokens * 4),
        };
  return factOf(site, 'HistoryCompacted', compactedPayload(plan, { ...said, ...request }));
}

function summaryFor(callId: string, plan: DecidedCompaction, agent: AgentView, site: CompactionSite): Promise<Summary> {
  const { work, context, controller } = site;
  const { state } = work.journal;
  const order = { callId, messages: summarisedMessages(plan, state), earlier: state.summary, plan };
  return summarise(order, agent, work, context, controller, (type, payload) => factOf(site, type, payload));
}

function summarisedMessages({ summarised, prompts }: DecidedCompaction, state: SessionState): readonly Message[] {
  const stay = new Set(prompts);
  return state.context
    .slice(0, summarised + prompts.length)
    .flatMap((place, index) => (stay.has(index) ? [] : (state.messages.at(place) ?? [])));
}

function factOf<Type extends CoreType>(
  { work, context: { turnId, runId, stepId }, epoch }: CompactionSite,
  type: Type,
  payload: PayloadOf<Type>,
): DraftedFact<Type> {
  return draftFact(type, payload, { turnId, runId, stepId }, { kind: 'node' }, epoch, work.batchContext);
}

async function blockedByHook(
  plan: DecidedCompaction,
  state: SessionState,
  agent: AgentView,
  context: InvocationContext,
) {
  const hooks = agent.hooksAt('pre_compact').filter((hook) => matches(hook, context));
  if (hooks.length === 0) return undefined;
  const { tokensBefore: used_tokens, window: max_tokens } = plan;
  const size = { message_count: state.context.length, used_tokens, max_tokens };
  const occurrence = { event_type: 'pre_compact', payload: { ...context.subject(), ...size } } as const;
  const outcome = await askHooks(hooks, occurrence, context.signal);
  if (outcome.action === 'continue') return undefined;
  const code = 'PERDURE_CHANGE_BLOCKED';
  return { code, message: errorMessage(code, { change: 'compact', reason: outcome.reason }) };
}
