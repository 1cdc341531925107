import { answerText, type AnswerPart, type ProviderMetadata } from '@perdure/events';
import { StreamRedactor } from '../secrets/stream-redactor.js';
import type { Redaction } from '../secrets/redaction.js';
import { AnswerOrder, type PartSlot } from './answer-order.js';
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
  readonly slot: PartSlot;
  readonly redactor: StreamRedactor;
  readonly pieces: string[];
  providerMetadata: ProviderMetadata | undefined;
}

interface GrowingCall {
  readonly slot: PartSlot;
  readonly callId: string;
  readonly name: string;
  readonly redactor: StreamRedactor;
  raw: string;
}

/**
 * Puts an answer together from what a provider streams, and tells every piece to a sink, part after part: a place in
 * the answer is a part and an offset, and everything before it has been told. Parts are in the order in which their
 * first content came. A text that goes on after another part began goes on as a part of its own; a text that never gets
 * content is no part.
 *
 * Everything that leaves is redacted. Texts are read as one, so what may be the beginning of a secret at the end of a
 * text is held until the next text, or the end of the answer, shows what it is; so is what stands behind it.
 */
export class AnswerBuilder {
  private readonly order: AnswerOrder;
  private text: GrowingText | undefined;
  /** Texts whose ends are held, oldest first. */
  private seams: GrowingText[] = [];
  private readonly calls = new Map<string, GrowingCall>();
  private callCount = 0;
  readonly warnings: string[] = [];

  constructor(
    private readonly sessionId: string,
    private readonly stepId: string,
    private readonly redaction: Redaction,
    sink: DeltaSink,
  ) {
    this.order = new AnswerOrder(sink);
  }

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
        if (part.providerExecuted !== true && !this.calls.has(part.id)) this.beginCall(part.id, part.toolName);
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
      } else if (part.type === 'tool-call') this.completeCall(part);
      else if (part.type === 'file') this.addFile(part.mediaType, part.data);
    }
  }

  /** The parts of an answer that ended. A call whose end was not told has the arguments that came. */
  finish(): AnswerPart[] {
    if (this.text !== undefined) this.endTexts(this.text);
    for (let last = this.seams.pop(); last !== undefined; last = this.seams.pop()) this.endTexts(last);
    for (const [toolCallId, { name, raw }] of this.calls) this.completeCall({ toolCallId, toolName: name, input: raw });
    return withoutSplitSecret(
      this.order.upTo(() => undefined),
      this.redaction,
    );
  }

  /** What was told of an answer that broke off. The end of a text that could begin a secret is given up. */
  breakOff(): AnswerPart[] {
    const texts = [...this.seams, ...(this.text === undefined ? [] : [this.text])];
    return this.order.upTo((slot) => {
      const text = texts.find((each) => each.slot === slot);
      return text === undefined ? undefined : partOf(text);
    });
  }

  private growText(
    kind: 'text' | 'reasoning',
    id: string,
    delta: string,
    metadata: ProviderMetadata | undefined,
  ): void {
    if (this.text?.kind !== kind || this.text.id !== id) {
      if (delta === '' && metadata === undefined) return;
      this.text = this.beginText(kind, id, metadata);
    }
    const { text } = this;
    if (metadata !== undefined) text.providerMetadata = metadata;
    const piece = text.redactor.push(delta);
    this.passSeams(text.redactor);
    this.show(text, piece);
  }

  /** A text goes on where the one before it ended. Reasoning does so only when nothing came between. */
  private beginText(kind: 'text' | 'reasoning', id: string, metadata: ProviderMetadata | undefined): GrowingText {
    if (this.text !== undefined) this.closeText(this.text, this.text.kind === kind);
    const last = this.seams.findLast((seam) => seam.kind === kind);
    const redactor = last?.redactor ?? new StreamRedactor(this.redaction.texts);
    if (last !== undefined) redactor.beginNext();
    return { kind, id, slot: this.order.begin(), redactor, pieces: [], providerMetadata: metadata };
  }

  private endText(kind: 'text' | 'reasoning', id: string, metadata: ProviderMetadata | undefined): void {
    if (this.text?.kind !== kind || this.text.id !== id) return;
    if (metadata !== undefined) this.text.providerMetadata = metadata;
    // An id that comes again is another text.
    if (this.text.redactor.isOpen) this.text = { ...this.text, id: `${id}, ended` };
    else this.endTexts(this.text);
  }

  /** Ends a text at the beginning of another part: with all of it, or with its end held for the next text. */
  private closeText(text: GrowingText, goesOn: boolean): void {
    const isHeld = goesOn ? text.redactor.holdsText : text.kind === 'text' && text.redactor.isOpen;
    if (!isHeld) return this.endTexts(text);
    this.text = undefined;
    this.seams.push(text);
  }

  /** Ends a text, and those before it whose ends were held. */
  private endTexts(text: GrowingText): void {
    this.text = undefined;
    const rest = text.redactor.end();
    this.passSeams(text.redactor);
    this.show(text, rest);
    this.order.complete(text.slot, partOf(text));
  }

  /** What was held of texts before the one that grows belongs to them. */
  private passSeams(redactor: StreamRedactor): void {
    for (const piece of redactor.takeParted()) {
      const [text] = this.seams.splice(
        this.seams.findIndex((seam) => seam.redactor === redactor),
        1,
      );
      if (text === undefined) return;
      this.show(text, piece);
      this.order.complete(text.slot, partOf(text));
    }
  }

  private show(text: GrowingText, piece: string): void {
    if (piece === '') return;
    text.pieces.push(piece);
    this.order.tell(text.slot, { kind: text.kind, text: piece });
  }

  private beginPart(): PartSlot {
    if (this.text !== undefined) this.closeText(this.text, false);
    return this.order.begin();
  }

  private beginCall(providerId: string, toolName: string): GrowingCall {
    const name = this.redaction.redactText(toolName);
    const callId = callIdOf(this.sessionId, this.stepId, this.callCount++);
    const redactor = new StreamRedactor(this.redaction.texts);
    const call: GrowingCall = { slot: this.beginPart(), callId, name, redactor, raw: '' };
    this.order.tell(call.slot, { kind: 'tool-start', callId, name });
    this.calls.set(providerId, call);
    return call;
  }

  private growCall(providerId: string, delta: string): void {
    const call = this.calls.get(providerId);
    if (call === undefined) return;
    call.raw += delta;
    const text = call.redactor.push(delta);
    if (text !== '') this.order.tell(call.slot, { kind: 'tool-progress', callId: call.callId, text });
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
    const text = member.invalidInput ?? JSON.stringify(member.input);
    this.order.tell(call.slot, { kind: 'tool-input', callId: call.callId, text });
    this.order.complete(call.slot, {
      type: 'tool-call',
      callId: call.callId,
      name: call.name,
      ...member,
      providerCallId: this.redaction.redactText(content.toolCallId),
      ...(content.providerMetadata === undefined ? {} : { providerMetadata: content.providerMetadata }),
    });
  }

  private addFile(givenType: string, data: string | Uint8Array): void {
    const mediaType = this.redaction.redactText(givenType);
    const text = typeof data === 'string' ? data : Buffer.from(data).toString('base64');
    const slot = this.beginPart();
    this.order.tell(slot, { kind: 'file', mediaType });
    this.order.complete(slot, { type: 'file', mediaType, data: text });
  }
}

function partOf({ kind, pieces, providerMetadata }: GrowingText): AnswerPart | undefined {
  const text = pieces.join('');
  if (text === '' && providerMetadata === undefined) return undefined;
  return { type: kind, text, ...(providerMetadata === undefined ? {} : { providerMetadata }) };
}

/**
 * Texts of an answer are read as one. Where only their joint shows what must not be shown, they become one part,
 * without it.
 */
function withoutSplitSecret(parts: AnswerPart[], redaction: Redaction): AnswerPart[] {
  if (redaction.isEmpty || parts.filter(({ type }) => type === 'text').length < 2) return parts;
  const whole = answerText(parts);
  const shown = redaction.redactText(whole);
  if (shown === whole) return parts;
  const first = parts.findIndex(({ type }) => type === 'text');
  return parts.flatMap((part, index): AnswerPart[] => {
    if (part.type !== 'text') return [part];
    return index === first ? [{ ...part, text: shown }] : [];
  });
}
