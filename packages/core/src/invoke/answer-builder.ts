import { answerText, type AnswerPart, type ProviderMetadata } from '@perdure/events';
import { StreamRedactor } from '../secrets/stream-redactor.js';
import type { Redaction } from '../secrets/redaction.js';
import { callIdOf } from './call-id.js';
import { checkContent, checkStreamPart } from './check-stream-part.js';
import type { ModelCallContent, ModelContent, ModelStreamPart } from './language-model.js';
import { parseArguments } from './parse-arguments.js';

/** A piece by which an answer grew. `part` counts the parts of the answer from 0, in the order in which they began. */
export type AnswerDelta =
  | TextDelta
  | { readonly part: number; readonly kind: 'tool-start'; readonly callId: string; readonly name: string }
  | { readonly part: number; readonly kind: 'tool-input'; readonly callId: string; readonly text: string }
  /** Arguments as they come, for user interfaces alone: the whole arguments follow as `tool-input`. */
  | { readonly part: number; readonly kind: 'tool-progress'; readonly callId: string; readonly text: string }
  | { readonly part: number; readonly kind: 'file'; readonly mediaType: string };

export interface TextDelta {
  readonly part: number;
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
}

export type DeltaSink = (delta: AnswerDelta) => void;

interface GrowingText {
  readonly kind: 'text' | 'reasoning';
  readonly id: string;
  readonly part: number;
  readonly redactor: StreamRedactor;
  readonly pieces: string[];
  providerMetadata: ProviderMetadata | undefined;
}

interface GrowingCall {
  readonly part: number;
  readonly callId: string;
  readonly name: string;
  readonly redactor: StreamRedactor;
  raw: string;
}

/**
 * Puts an answer together from what a provider streams, and tells every piece to a sink, part after part: a place in
 * the answer is a part and an offset, and everything before it has been told. Parts are in the order in which their
 * first content came. A text that goes on after another part began goes on as a part of its own; a text that never gets
 * content is no part. Everything that leaves is redacted.
 */
export class AnswerBuilder {
  private readonly parts: (AnswerPart | undefined)[] = [];
  private text: GrowingText | undefined;
  private readonly calls = new Map<string, GrowingCall>();
  private callCount = 0;
  /** Pieces of parts behind a call whose arguments are not whole. */
  private blocked: AnswerDelta[] = [];
  readonly warnings: string[] = [];

  constructor(
    private readonly sessionId: string,
    private readonly stepId: string,
    private readonly redaction: Redaction,
    private readonly sink: DeltaSink,
  ) {}

  /**
   * Takes in a piece of a stream that carries content; other kinds are the caller's. Throws PERDURE_MODEL_PROTOCOL.
   */
  add(given: ModelStreamPart): void {
    const part = checkStreamPart(given);
    switch (part.type) {
      case 'text-delta':
        return this.growText('text', part.id, part.delta, part.providerMetadata);
      case 'reasoning-delta':
        return this.growText('reasoning', part.id, part.delta, part.providerMetadata);
      case 'reasoning-start':
        return this.growText('reasoning', part.id, '', part.providerMetadata);
      case 'text-end':
        return this.endText('text', part.id, part.providerMetadata);
      case 'reasoning-end':
        return this.endText('reasoning', part.id, part.providerMetadata);
      case 'tool-input-start':
        if (part.providerExecuted !== true) this.beginCall(part.id, part.toolName);
        return undefined;
      case 'tool-input-delta':
        return this.growCall(part.id, part.delta);
      case 'tool-call':
        return this.completeCall(part);
      case 'file':
        return this.addFile(part.mediaType, part.data);
      default:
        return undefined;
    }
  }

  /** Takes in an answer that came whole. */
  addContent(content: readonly ModelContent[]): void {
    for (const [index, given] of content.entries()) {
      const part = checkContent(given);
      if (part.type === 'text' || part.type === 'reasoning') {
        this.growText(part.type, `whole-${index}`, part.text, part.providerMetadata);
        this.closeText();
      } else if (part.type === 'tool-call') this.completeCall(part);
      else if (part.type === 'file') this.addFile(part.mediaType, part.data);
    }
  }

  /** The parts of an answer that ended. A call whose end was not told has the arguments that came. */
  finish(): AnswerPart[] {
    this.closeText();
    for (const [toolCallId, { name, raw }] of this.calls) this.completeCall({ toolCallId, toolName: name, input: raw });
    return withoutSplitSecret(
      this.parts.filter((part) => part !== undefined),
      this.redaction,
    );
  }

  /** What was told of an answer that broke off. The end of a text that could begin a secret is given up. */
  breakOff(): AnswerPart[] {
    this.closeText(false);
    const hole = this.parts.indexOf(undefined);
    return (hole < 0 ? this.parts : this.parts.slice(0, hole)).filter((part) => part !== undefined);
  }

  private growText(
    kind: 'text' | 'reasoning',
    id: string,
    delta: string,
    metadata: ProviderMetadata | undefined,
  ): void {
    if (this.text?.kind !== kind || this.text.id !== id) {
      if (delta === '' && metadata === undefined) return;
      const redactor = new StreamRedactor(this.redaction.texts);
      this.text = { kind, id, part: this.beginPart(), redactor, pieces: [], providerMetadata: metadata };
    }
    if (metadata !== undefined) this.text.providerMetadata = metadata;
    this.show(this.text, this.text.redactor.push(delta));
  }

  private endText(kind: 'text' | 'reasoning', id: string, metadata: ProviderMetadata | undefined): void {
    if (this.text?.kind !== kind || this.text.id !== id) return;
    if (metadata !== undefined) this.text.providerMetadata = metadata;
    this.closeText();
  }

  private closeText(isWhole = true): void {
    const { text } = this;
    if (text === undefined) return;
    this.text = undefined;
    if (isWhole) this.show(text, text.redactor.end());
    const whole = text.pieces.join('');
    if (whole === '' && text.providerMetadata === undefined) return;
    const metadata = text.providerMetadata === undefined ? {} : { providerMetadata: text.providerMetadata };
    this.parts[text.part] = { type: text.kind, text: whole, ...metadata };
  }

  private show(text: GrowingText, piece: string): void {
    if (piece === '') return;
    text.pieces.push(piece);
    this.tell({ part: text.part, kind: text.kind, text: piece });
  }

  private beginPart(): number {
    this.closeText();
    return this.parts.push(undefined) - 1;
  }

  private beginCall(providerId: string, toolName: string): GrowingCall {
    const name = this.redaction.redactText(toolName);
    const callId = callIdOf(this.sessionId, this.stepId, this.callCount++);
    const redactor = new StreamRedactor(this.redaction.texts);
    const call: GrowingCall = { part: this.beginPart(), callId, name, redactor, raw: '' };
    // Told before the call blocks what follows it.
    this.tell({ part: call.part, kind: 'tool-start', callId, name });
    this.calls.set(providerId, call);
    return call;
  }

  private growCall(providerId: string, delta: string): void {
    const call = this.calls.get(providerId);
    if (call === undefined) return;
    call.raw += delta;
    const text = call.redactor.push(delta);
    if (text !== '') this.sink({ part: call.part, kind: 'tool-progress', callId: call.callId, text });
  }

  private completeCall(content: ModelCallContent): void {
    if (content.providerExecuted === true) {
      this.warnings.push(`The provider ran its own tool "${content.toolName}"; its calls and results are not kept.`);
      return;
    }
    const call = this.calls.get(content.toolCallId) ?? this.beginCall(content.toolCallId, content.toolName);
    this.calls.delete(content.toolCallId);
    const input = parseArguments(content.input);
    const member =
      input === undefined
        ? { invalidInput: this.redaction.redactText(content.input) }
        : { input: this.redaction.redact(input.value) };
    this.parts[call.part] = {
      type: 'tool-call',
      callId: call.callId,
      name: call.name,
      ...member,
      providerCallId: this.redaction.redactText(content.toolCallId),
      ...(content.providerMetadata === undefined ? {} : { providerMetadata: content.providerMetadata }),
    };
    const text = member.invalidInput ?? JSON.stringify(member.input);
    this.tell({ part: call.part, kind: 'tool-input', callId: call.callId, text });
    const waiting = this.blocked;
    this.blocked = [];
    for (const delta of waiting) this.tell(delta);
  }

  private addFile(givenType: string, data: string | Uint8Array): void {
    const mediaType = this.redaction.redactText(givenType);
    const text = typeof data === 'string' ? data : Buffer.from(data).toString('base64');
    const part = this.beginPart();
    this.parts[part] = { type: 'file', mediaType, data: text };
    this.tell({ part, kind: 'file', mediaType });
  }

  private tell(delta: AnswerDelta): void {
    const isBlocked = Array.from(this.calls.values()).some(({ part }) => part < delta.part);
    if (isBlocked) this.blocked.push(delta);
    else this.sink(delta);
  }
}

/**
 * Texts of an answer are read as one. Where only their joint shows what must not be shown, they become one part,
 * without it.
 */
function withoutSplitSecret(parts: AnswerPart[], redaction: Redaction): AnswerPart[] {
  if (redaction.isEmpty) return parts;
  const whole = answerText(parts);
  const shown = redaction.redactText(whole);
  if (shown === whole) return parts;
  const first = parts.findIndex(({ type }) => type === 'text');
  return parts.flatMap((part, index): AnswerPart[] => {
    if (part.type !== 'text') return [part];
    return index === first ? [{ ...part, text: shown }] : [];
  });
}
