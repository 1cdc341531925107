import type { WireEvent } from '@perdure/events';
import type { AnswerDelta } from '../invoke/answer-builder.js';
import type { AnswerPlace } from './cursor.js';

/** Which answer grows: the step that asked and the try. */
export interface AnswerKey {
  readonly stepId: string;
  /** 1 for the first try. */
  readonly attempt: number;
}

/** The id of the message that an answer becomes. */
export function answerMessageId(key: AnswerKey): string {
  return key.attempt === 1 ? `${key.stepId}.answer` : `${key.stepId}.answer-${key.attempt}`;
}

/** An answer while it grows: every delta in order. Readers keep a place in it, so it holds nothing for any of them. */
export class LiveAnswer {
  readonly deltas: AnswerDelta[] = [];

  constructor(readonly key: AnswerKey) {}

  /** The index of the first delta behind a place, and what of it is left when the place lies within. */
  seek(place: AnswerPlace): { readonly index: number; readonly rest?: AnswerDelta } {
    const seen: number[] = [];
    for (const [index, delta] of this.deltas.entries()) {
      const size = sizeOf(delta);
      const before = seen[delta.part] ?? 0;
      const wanted = delta.part < place.part ? Number.POSITIVE_INFINITY : delta.part === place.part ? place.offset : 0;
      if (before + size > wanted) {
        if (before >= wanted || !('text' in delta)) return { index };
        return { index: index + 1, rest: { ...delta, text: delta.text.slice(wanted - before) } };
      }
      seen[delta.part] = before + size;
    }
    return { index: this.deltas.length };
  }
}

/** How far a delta moves the place in its part; see `partOnWire`. */
export function sizeOf(delta: AnswerDelta): number {
  if (delta.kind === 'text' || delta.kind === 'reasoning') return delta.text.length;
  return delta.kind === 'tool-progress' ? 0 : 1;
}

export function deltaOnWire(delta: AnswerDelta): WireEvent | undefined {
  switch (delta.kind) {
    case 'text':
    case 'reasoning':
      return { type: `${delta.kind}_delta`, payload: { text: delta.text } };
    case 'tool-start':
      return { type: 'tool_start', payload: { id: delta.callId, name: delta.name } };
    case 'tool-input':
      return { type: 'tool_input_delta', payload: { id: delta.callId, delta: delta.text } };
    case 'file':
      return { type: 'answer_file', payload: { media_type: delta.mediaType } };
    case 'tool-progress':
      return undefined;
  }
}
