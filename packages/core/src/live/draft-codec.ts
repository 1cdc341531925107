import type { AnswerPart } from '@perdure/events';
import type { AnswerDelta, TextDelta } from '../invoke/answer-builder.js';
import type { AnswerKey } from './live-answer.js';

/** What a draft stream keeps of a growing answer: deltas of one kind and part joined, with where each of them ended. */
export interface DraftBatch extends AnswerKey {
  readonly epoch: number;
  readonly runs: readonly DraftRun[];
}

export type DraftRun =
  | {
      readonly part: number;
      readonly kind: 'text' | 'reasoning';
      readonly offset: number;
      readonly text: string;
      readonly cuts: string;
    }
  | { readonly part: number; readonly kind: 'tool-start'; readonly callId: string; readonly name: string }
  | { readonly part: number; readonly kind: 'tool-input'; readonly callId: string; readonly text: string }
  | { readonly part: number; readonly kind: 'file'; readonly mediaType: string };

/** Joins deltas. `offsets` holds how much of each part went before, and is carried on. */
export function packDeltas(deltas: readonly AnswerDelta[], offsets: number[]): DraftRun[] {
  const runs: DraftRun[] = [];
  for (let index = 0; index < deltas.length;) {
    const delta = deltas[index] as AnswerDelta;
    index++;
    if (delta.kind === 'tool-progress') continue;
    if (!isText(delta)) {
      runs.push(delta);
      continue;
    }
    const lengths = [delta.text.length];
    let text = delta.text;
    for (; index < deltas.length; index++) {
      const next = deltas[index] as AnswerDelta;
      if (!isText(next) || next.kind !== delta.kind || next.part !== delta.part) break;
      lengths.push(next.text.length);
      text += next.text;
    }
    const offset = offsets[delta.part] ?? 0;
    offsets[delta.part] = offset + text.length;
    runs.push({ part: delta.part, kind: delta.kind, offset, text, cuts: packLengths(lengths) });
  }
  return runs;
}

function isText(delta: AnswerDelta): delta is TextDelta {
  return delta.kind === 'text' || delta.kind === 'reasoning';
}

/** The deltas of a run as they were. */
export function unpackRun(run: DraftRun): AnswerDelta[] {
  if (run.kind !== 'text' && run.kind !== 'reasoning') return [run];
  const deltas: AnswerDelta[] = [];
  let at = 0;
  for (const length of unpackLengths(run.cuts)) {
    deltas.push({ part: run.part, kind: run.kind, text: run.text.slice(at, at + length) });
    at += length;
  }
  return deltas;
}

/**
 * Lengths as text: a length under 36 is one character, a longer one is `[n]`, and what repeats is followed by
 * `(times)`. An answer of 100,000 tokens would else spend more on where they end than on what they say.
 */
function packLengths(lengths: readonly number[]): string {
  let text = '';
  for (let index = 0; index < lengths.length;) {
    const length = lengths[index] as number;
    let times = 1;
    while (index + times < lengths.length && lengths[index + times] === length) times++;
    const one = length < 36 ? length.toString(36) : `[${length}]`;
    text += times * one.length <= one.length + 3 ? one.repeat(times) : `${one}(${times})`;
    index += times;
  }
  return text;
}

function* unpackLengths(cuts: string): Generator<number> {
  for (const [, one, long, times] of cuts.matchAll(/(?:([0-9a-z])|\[(\d+)\])(?:\((\d+)\))?/g)) {
    const length = long === undefined ? Number.parseInt(one as string, 36) : Number(long);
    for (let count = Number(times ?? 1); count > 0; count--) yield length;
  }
}

/** The parts of an answer as far as a draft holds them. A call that has only begun is left out. */
export function partsOfRuns(runs: readonly DraftRun[]): AnswerPart[] {
  const parts: AnswerPart[] = [];
  const names = new Map<string, string>();
  for (const run of runs) {
    const last = parts.at(-1);
    if (run.kind === 'tool-start') names.set(run.callId, run.name);
    else if (run.kind === 'tool-input') parts.push(callPart(run.callId, names.get(run.callId) ?? '', run.text));
    else if (run.kind === 'file') parts.push({ type: 'file', mediaType: run.mediaType });
    else if (run.offset > 0 && last?.type === run.kind)
      parts[parts.length - 1] = { ...last, text: last.text + run.text };
    else parts.push({ type: run.kind, text: run.text });
  }
  return parts;
}

function callPart(callId: string, name: string, text: string): AnswerPart {
  try {
    return { type: 'tool-call', callId, name, input: JSON.parse(text) };
  } catch {
    return { type: 'tool-call', callId, name, invalidInput: text };
  }
}
