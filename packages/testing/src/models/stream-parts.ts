import { completeAnswer, type CompleteAnswer } from './complete-answer.js';
import { playAnswer, type AnswerDelta, type AnswerWait } from './play-answer.js';
import { brokenAnswer, jsonParseError, missingFinish } from './provider-error.js';
import { providerFailure } from './provider-failure.js';
import type { ScriptedAnswer } from './script.js';
import type { FinishOf, Specification, SpecificationShape, UsageOf } from './specification.js';

/** The parts of a streamed answer. Only v4 has `ping`. */
export type StreamPart<Version extends Specification> =
  | { type: 'stream-start'; warnings: [] }
  | { type: 'response-metadata'; modelId: string }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; id: string; toolName: string }
  | { type: 'tool-input-delta'; id: string; delta: string }
  | { type: 'tool-input-end'; id: string }
  | { type: 'tool-call'; toolCallId: string; toolName: string; input: string }
  | { type: 'error'; error: unknown }
  | { type: 'finish'; finishReason: FinishOf[Version]; usage: UsageOf[Version] }
  | (Version extends 'v4' ? { type: 'ping' } : never);

/** A part, or a time in which none comes. */
export type StreamMoment<Version extends Specification> = { readonly part: StreamPart<Version> } | AnswerWait;

/** A text that is no JSON, as it may stand in a stream. */
const BROKEN_CHUNK = '{"choices":[{"delta":';

/**
 * The parts of an answer, in the order of a real provider. An answer that ends without a reason still closes what is
 * open, so a call that was cut in its arguments shows as a call with half of them. Throws where the connection breaks.
 */
export function* streamParts<Version extends Specification>(
  answer: ScriptedAnswer,
  shape: SpecificationShape<Version>,
  modelId: string,
): Generator<StreamMoment<Version>, void> {
  const parts = new OpenParts<Version>(completeAnswer(answer));
  yield { part: { type: 'stream-start', warnings: [] } };
  if (shape.pings) yield { part: { type: 'ping' } as StreamPart<Version> };
  yield { part: { type: 'response-metadata', modelId } };
  for (const beat of playAnswer(answer)) {
    switch (beat.kind) {
      case 'wait':
        yield beat;
        break;
      case 'malformed':
        yield { part: { type: 'error', error: jsonParseError(BROKEN_CHUNK) } };
        break;
      case 'cut':
        throw brokenAnswer();
      case 'error':
        yield { part: { type: 'error', error: errorInStream(answer) } };
        yield* parts.close();
        yield { part: { type: 'finish', finishReason: shape.finish('error'), usage: shape.usage(undefined) } };
        break;
      case 'end':
        yield* parts.close();
        if (!shape.tellsInterruption) yield { part: { type: 'error', error: missingFinish() } };
        yield { part: { type: 'finish', finishReason: shape.streamWithoutFinish, usage: shape.usage(undefined) } };
        break;
      case 'finish': {
        const { finish, usage } = completeAnswer(answer);
        yield* parts.close();
        yield { part: { type: 'finish', finishReason: shape.finish(finish), usage: shape.usage(usage) } };
        break;
      }
      default:
        yield* parts.grow(beat);
    }
  }
}

/** Follows which part of an answer is growing: at most one is open. */
class OpenParts<Version extends Specification> {
  private readonly answer: CompleteAnswer;
  private open: OpenPart | undefined;

  constructor(answer: CompleteAnswer) {
    this.answer = answer;
  }

  *grow(delta: AnswerDelta): Generator<StreamMoment<Version>, void> {
    const key = delta.kind === 'call' ? `call-${delta.call}` : `${delta.kind}-0`;
    let open = this.open;
    if (open?.key !== key) {
      yield* this.close();
      open = this.opening(delta, key);
      this.open = open;
      const { id, toolName } = open;
      if (delta.kind === 'call') yield { part: { type: 'tool-input-start', id, toolName } };
      else yield { part: { type: `${delta.kind}-start`, id } };
    }
    open.text += delta.delta;
    if (delta.kind !== 'call') yield { part: { type: `${delta.kind}-delta`, id: open.id, delta: delta.delta } };
    else if (delta.delta !== '') yield { part: { type: 'tool-input-delta', id: open.id, delta: delta.delta } };
  }

  *close(): Generator<StreamMoment<Version>, void> {
    if (this.open === undefined) return;
    const { kind, id, toolName, text } = this.open;
    this.open = undefined;
    if (kind !== 'call') {
      yield { part: { type: `${kind}-end`, id } };
      return;
    }
    yield { part: { type: 'tool-input-end', id } };
    yield { part: { type: 'tool-call', toolCallId: id, toolName, input: text } };
  }

  private opening(delta: AnswerDelta, key: string): OpenPart {
    const call = delta.kind === 'call' ? this.answer.calls[delta.call] : undefined;
    return { key, kind: delta.kind, id: call?.providerCallId ?? key, toolName: call?.name ?? '', text: '' };
  }
}

interface OpenPart {
  readonly key: string;
  readonly kind: AnswerDelta['kind'];
  readonly id: string;
  readonly toolName: string;
  text: string;
}

/** In a stream the provider's own object stands where an error would, without a status. */
function errorInStream(answer: ScriptedAnswer): unknown {
  const { body } = providerFailure(answer.error ?? {});
  return typeof body === 'object' && body !== null && 'error' in body ? body['error'] : body;
}
