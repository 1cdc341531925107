import { answerText, type CallOrigin, type CoreType, type JsonValue, type PayloadOf } from '@perdure/events';
import type { HookEvent, HookPayloads, Message } from '@perdure/plugin-api';
import type { SessionState } from '../session/session-state.js';
import type { HookTarget } from './hook-matcher.js';

/** One occurrence that hooks are told of. */
export type Occurrence = {
  readonly [Event in HookEvent]: {
    readonly event: Event;
    readonly payload: () => HookPayloads[Event];
    readonly target?: Omit<HookTarget, 'sessionId'>;
  };
}[HookEvent];

/** What a fact's occurrences are told with. */
export interface FactSight {
  /** The state after the fact. */
  readonly state: SessionState;
  /** When the fact was written, in epoch milliseconds. */
  readonly time: number;
  call(
    callId: string,
  ): { readonly name: string; readonly input: JsonValue | undefined; readonly origin: CallOrigin } | undefined;
  answerText(turnId: string): string | undefined;
}

type Teller<Type extends CoreType> = (fact: PayloadOf<Type>, sight: FactSight) => readonly Occurrence[];

/** Which facts tell hooks something. Facts that others may append are told in every process, the rest by the owner. */
const tellers: { readonly [Type in CoreType]?: Teller<Type> } = {
  SessionCreated: (_, { state }) => {
    const model = state.setup?.model;
    const payload = { model_provider: model?.provider ?? null, model_name: model?.name ?? state.model ?? null };
    return [{ event: 'session_start', payload: () => payload }];
  },
  ModelAnswered: (fact) => [
    {
      event: 'generate_end',
      payload: () => ({
        response_text: answerText(fact.parts),
        tool_calls: fact.parts.flatMap((part) =>
          part.type === 'tool-call' ? [{ name: part.name, args: part.input ?? {} }] : [],
        ),
        usage: fact.usage,
        duration_ms: fact.endedAt - fact.startedAt,
      }),
    },
  ],
  ModelCallFailed: ({ failure, status, retryAfterMs, attempt, model }) => {
    const context = { attempt, model };
    const about = { error_code: failure.code, error_message: failure.message, context };
    const error = () => ({ error_type: 'llm_failure', ...about }) as const;
    const failed = { event: 'on_error', payload: error } as const;
    if (status !== 429) return [failed];
    const payload = { limit_type: 'requests', retry_after_ms: retryAfterMs ?? null };
    return [failed, { event: 'on_rate_limit', payload: () => payload }];
  },
  ToolCallSettled: (fact, { state, call }) => {
    const { status, output = null, failure, startedAt, endedAt, callId } = fact;
    const { name: tool = '', input: args = {}, origin = 'model' } = call(callId) ?? {};
    const target = { tool, args };
    const about = { tool_id: callId, ...target, working_directory: state.identity?.workspace ?? null };
    const result = { success: status === 'completed', status, output, duration_ms: endedAt - (startedAt ?? endedAt) };
    const settled = {
      event: 'post_tool_use',
      payload: () => ({ ...about, origin, result }),
      target,
    } as const;
    if (failure === undefined) return [settled];
    const { code: error_code, message: error_message } = failure;
    const error_type = status === 'denied' ? 'permission_denied' : kindOf(error_code);
    const error = () => ({ error_type, error_code, error_message, context: about }) as const;
    return [settled, { event: 'on_error', payload: error, target }];
  },
  ApprovalRequested: ({ callId, name, reason }) => {
    const question = `May "${name}" be called?`;
    const message = reason === undefined ? question : `${question} ${reason}`;
    const payload = { confirmation_type: 'approval', message, interaction_id: callId } as const;
    return [{ event: 'on_confirmation', payload: () => payload }];
  },
  QuestionAsked: ({ callId, title, questions }) => {
    const [only, ...more] = questions;
    const message = title ?? questions.map(({ prompt }) => prompt).join('\n');
    const offered = only !== undefined && more.length === 0 && only.kind !== 'text' ? only.options : undefined;
    const options = offered === undefined ? {} : { options: offered.map(({ label }) => label) };
    const payload = { confirmation_type: 'question', message, interaction_id: callId, ...options } as const;
    return [{ event: 'on_confirmation', payload: () => payload }];
  },
  BudgetThresholdHit: (fact) => [{ event: 'budget_threshold_hit', payload: () => fact }],
  PassivationRequested: ({ reason, deadlineMs }) => {
    const payload = { reason, ...(deadlineMs === undefined ? {} : { deadline_ms: deadlineMs }) };
    return [{ event: 'passivation_requested', payload: () => payload }];
  },
  PeerInvoked: ({ fromSessionId, fromTenantId, correlationId }) => {
    const tenant = fromTenantId === undefined ? {} : { from_tenant_id: fromTenantId };
    const correlation = correlationId === undefined ? {} : { correlation_id: correlationId };
    return [
      { event: 'peer_invocation', payload: () => ({ from_session_id: fromSessionId, ...tenant, ...correlation }) },
    ];
  },
  HistoryCompacted: ({ summarised, kept, prompts = [], method = 'model' }) => {
    const stays = prompts.length + kept;
    const counts = { message_count_before: summarised + stays, message_count_after: stays + 1 };
    const after = { ...counts, summary_generated: method === 'model' };
    return [{ event: 'post_compact', payload: () => after }];
  },
  RunEnded: ({ turnId, status, usage }, { state, time, answerText: textOf }) => {
    if (status !== 'completed') return [];
    const payload = () => {
      const messages = messagesOf(state, turnId);
      return {
        response_text: textOf(turnId) ?? '',
        tool_calls_count: toolResultsOf(messages),
        usage,
        duration_ms: time - (messages[0]?.createdAt ?? time),
      };
    };
    return [{ event: 'post_response', payload }];
  },
};

/** What hooks are told of a committed fact. */
export function occurrencesOf(type: CoreType, payload: unknown, sight: FactSight): readonly Occurrence[] {
  const teller = tellers[type] as Teller<CoreType> | undefined;
  return teller === undefined ? [] : teller(payload as PayloadOf<CoreType>, sight);
}

/** How many calls of models have their results among the messages. */
export function toolResultsOf(messages: Iterable<Message>): number {
  let count = 0;
  for (const { role, parts } of messages) if (role === 'tool') count += parts.length;
  return count;
}

function kindOf(code: string): 'timeout' | 'tool_failure' {
  return code === 'PERDURE_TOOL_TIMEOUT' ? 'timeout' : 'tool_failure';
}

function messagesOf({ ended, messages }: SessionState, turnId: string): readonly Message[] {
  const turn = ended.at(ended.length - 1);
  return turn?.turnId === turnId ? messages.slice(turn.firstMessage, turn.lastMessage + 1) : [];
}
