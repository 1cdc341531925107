import {
  addUsage,
  answerText,
  noUsage,
  type CoreType,
  type Failure,
  type JsonValue,
  type PayloadOf,
  type Usage,
} from '@perdure/events';
import { errorTable, PerdureError, reasonOf, type ErrorCode, type ObjectResult } from '@perdure/plugin-api';
import { estimateTokens, sizeOfMessage } from '../compose/message-size.js';
import type { Validation } from '../compose/input-schema.js';
import { tell } from '../hooks/tell.js';
import type { ModelMessage } from '../invoke/language-model.js';
import { invokeModel, type ModelOutcome, type ModelRequest } from '../invoke/model-invoker.js';
import { parseArguments } from '../invoke/parse-arguments.js';
import { draftFact, type DraftedFact } from '../session/fact-batch.js';
import type { HostWork } from '../session/host-calls.js';
import { assertOwner, type Ownership } from '../session/ownership.js';
import { admitModelCall, breakOffWith, hitOf, tellBudget, type ModelCall } from '../turn/admit-model-call.js';
import { backOff } from '../turn/back-off.js';
import { finishFailure } from '../turn/decider.js';
import { invocationContextOf } from '../turn/invocation-context-of.js';
import type { SessionWork } from '../turn/session-work.js';
import type { CheckedObjectRequest } from './object-request.js';
import { PartialTeller } from './partial-teller.js';

/** Characters of a wrong answer that the model is shown again. */
const SHOWN = 16_384;

type Answered = Extract<ModelOutcome, { readonly status: 'answered' }>;

/** Has a model make an object, and tells it what is wrong until it is right or the tries are used up. */
export function generateObject(request: CheckedObjectRequest): HostWork<ObjectResult<unknown>> {
  return async (work, held, signal) => new ObjectCall(request, work, held, signal).run();
}

class ObjectCall {
  private readonly id: string;
  private usage: Usage = noUsage;
  private readonly teller: PartialTeller;

  constructor(
    private readonly request: CheckedObjectRequest,
    private readonly work: SessionWork,
    private readonly held: Ownership,
    private readonly ending: AbortSignal,
  ) {
    this.id = `object-${work.env.idGenerator.next(`${work.key.id}-${held.epoch}-object`)}`;
    this.teller = new PartialTeller(request.onPartial, (error) => {
      work.logger.log('warn', 'What is told of an object failed.', { session: work.key.id, reason: reasonOf(error) });
    });
  }

  async run(): Promise<ObjectResult<unknown>> {
    const { schema, maxRepairs } = this.request;
    const messages: ModelMessage[] = [...instruct(this.request)];
    for (let attempts = 1; ; attempts++) {
      const answer = await this.ask(messages, attempts);
      const text = answerText(answer.parts);
      const checked = check(text, schema.validate, finishFailure(answer.finish));
      if (checked.ok) return { object: checked.value, text, usage: this.usage, attempts };
      const { field: path, reason } = checked;
      if (attempts > maxRepairs) throw new PerdureError('PERDURE_OBJECT_INVALID', { attempts, path, reason });
      messages.push(...repair(text, path, reason));
    }
  }

  /** Asks until there is an answer, as often as any model call is tried. Every try leaves a fact. */
  private async ask(messages: readonly ModelMessage[], round: number): Promise<Answered> {
    const { limits } = this.work.agent().parts;
    for (let attempt = 1; ; attempt++) {
      this.teller.begin();
      const outcome = await this.attempt(messages, round, attempt);
      if (outcome.status === 'answered') return outcome;
      this.throwIfEnded();
      if (outcome.status === 'aborted') throw new PerdureError('PERDURE_SESSION_CLOSED', { session: this.work.key.id });
      const { failure, retryable, retryAfterMs } = outcome.failure;
      if (!retryable || attempt >= limits.maxModelAttempts) throw errorOf(failure);
      await backOff(attempt, retryAfterMs, this.work.env.random, this.signal);
      this.throwIfEnded();
    }
  }

  private async attempt(messages: readonly ModelMessage[], round: number, attempt: number): Promise<ModelOutcome> {
    this.throwIfEnded();
    const { work, request } = this;
    const agent = work.agent();
    const model = agent.model(request.model ?? work.journal.state.model);
    const controller = new AbortController();
    const unlink = link(this.signal, controller);
    const context = invocationContextOf(work, work.journal.state, controller.signal, false);
    const { limits, streaming } = agent.parts;
    const callId = `${this.id}.${round}`;
    const size = messages.reduce((sum, message) => sum + sizeOfMessage(message), 0);
    const call: ModelCall = {
      ...{ purpose: 'object', attempt, model, callId, estimatedTokens: estimateTokens(size) },
      maxOutputTokens: limits.maxOutputTokens,
    };
    try {
      const admission = await admitModelCall(call, agent, work, context, this.fact);
      if (admission.status === 'denied') {
        await this.record(admission.facts);
        this.throwIfEnded();
        throw errorOf(failureIn(admission.facts));
      }
      const settle = breakOffWith(admission.abortSignals, controller);
      const { maxOutputTokens } = admission;
      const responseFormat = { type: 'json' as const, schema: request.schema.json, ...named(request.name) };
      const asked: ModelRequest = { messages, tools: [], maxOutputTokens, responseFormat };
      await tell({ event: 'generate_start', payload: () => startOf(asked, model) }, agent, context);
      const outcome = await invokeModel(
        {
          ...{ model: model.model, request: asked, streaming, silenceMs: limits.modelSilenceMs, controller },
          answerKey: callId,
          onDelta: (delta) => {
            if (delta.kind === 'text') this.teller.add(delta.text);
          },
        },
        context,
      );
      settle();
      await tellBudget(call, outcome, agent, context);
      await this.record([...hitOf(context.signal.reason, this.fact), ...this.factsOf(outcome, call)]);
      if (outcome.status === 'answered') this.usage = addUsage(this.usage, outcome.usage);
      return outcome;
    } finally {
      unlink();
    }
  }

  private factsOf(outcome: ModelOutcome, { attempt, model, callId }: ModelCall): readonly DraftedFact[] {
    if (outcome.status === 'aborted') return [];
    const { provider, modelId } = model.model;
    const { startedAt, endedAt } = outcome;
    const about = { purpose: 'object' as const, attempt, model: model.name, provider, modelId, startedAt, endedAt };
    if (outcome.status === 'failed') {
      const { failure, retryable, status } = outcome.failure;
      return [
        this.fact('ModelCallFailed', { ...about, failure, retryable, ...(status === undefined ? {} : { status }) }),
      ];
    }
    const { parts, usage, finish, firstDeltaAt, responseId, warnings } = outcome;
    const optional = {
      ...(firstDeltaAt === undefined ? {} : { firstDeltaAt }),
      ...(responseId === undefined ? {} : { responseId }),
      ...(warnings === undefined ? {} : { warnings: [...warnings] }),
    };
    const messageId = `${callId}.${attempt}`;
    return [this.fact('ModelAnswered', { ...about, messageId, parts: [...parts], usage, finish, ...optional })];
  }

  private readonly fact = <Type extends CoreType>(type: Type, payload: PayloadOf<Type>): DraftedFact =>
    draftFact(type, payload, {}, { kind: 'host' }, this.held.epoch, this.work.batchContext);

  private async record(facts: readonly DraftedFact[]): Promise<void> {
    if (facts.length === 0) return;
    const { journal, key } = this.work;
    await journal.commit((batch) => {
      assertOwner(batch, this.held, key.id);
      for (const fact of facts) batch.keep(fact);
    }, 'owner');
  }

  private get signal(): AbortSignal {
    const { signal } = this.request;
    return signal === undefined ? this.ending : AbortSignal.any([this.ending, signal]);
  }

  /** The caller's reason, or that of the session. */
  private throwIfEnded(): void {
    this.request.signal?.throwIfAborted();
    this.ending.throwIfAborted();
  }
}

/** An end from outside is no failure of the model: it carries no code of ours. */
function link(signal: AbortSignal, controller: AbortController): () => void {
  const end = (): void => controller.abort(new DOMException('ended', 'AbortError'));
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  return () => signal.removeEventListener('abort', end);
}

function instruct({ schema, messages }: CheckedObjectRequest): readonly ModelMessage[] {
  const asked = 'Answer with one JSON value and nothing else. It must match this JSON Schema:';
  const text = `${asked}\n${JSON.stringify(schema.json)}`;
  return [
    { role: 'system', content: text },
    ...messages.map(({ role, content }): ModelMessage =>
      role === 'system' ? { role, content } : { role, content: [{ type: 'text', text: content }] },
    ),
  ];
}

function repair(text: string, path: string, reason: string): readonly ModelMessage[] {
  const where = path === '' ? '' : ` at "${path}"`;
  const asked = `That is not valid${where}: ${reason}. Answer with the whole corrected JSON value and nothing else.`;
  const answer: ModelMessage = { role: 'assistant', content: [{ type: 'text', text: text.slice(0, SHOWN) }] };
  const user: ModelMessage = { role: 'user', content: [{ type: 'text', text: asked }] };
  return text === '' ? [user] : [answer, user];
}

function check(text: string, validate: (input: JsonValue) => Validation, finish: Failure | undefined): Validation {
  const fenced = /^\s*```(?:json)?\s*\n([\s\S]*?)\n?\s*```\s*$/.exec(text)?.[1] ?? text;
  const parsed = fenced.trim() === '' ? undefined : parseArguments(fenced);
  if (parsed !== undefined) return validate(parsed.value);
  return { ok: false, field: '', reason: finish?.message ?? 'it is no JSON' };
}

function startOf({ messages }: ModelRequest, { name, model }: ModelCall['model']) {
  const user = messages.findLast(({ role }) => role === 'user');
  const parts = user?.role === 'user' ? user.content : [];
  const prompt = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  return { prompt, model_provider: model.provider, model_name: name, available_tools: [] };
}

function named(name: string | undefined) {
  return name === undefined ? {} : { name };
}

function failureIn(facts: readonly DraftedFact[]): Failure {
  const [failure] = facts.flatMap(({ payload }) => ('failure' in payload && payload.failure) || []);
  return failure ?? { code: 'PERDURE_BUDGET_EXHAUSTED', message: '' };
}

/** A failure as it is thrown. The codes of model calls have no data but their reason. */
function errorOf({ code, message }: Failure): PerdureError {
  return isErrorCode(code)
    ? new PerdureError(code, { resource: 'budget_guard', reason: message })
    : new PerdureError('PERDURE_MODEL_UNAVAILABLE', { reason: `${code}: ${message}` });
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorTable, code);
}
