import { completeAnswer } from './complete-answer.js';
import type { ScriptedAnswer } from './script.js';

/** A piece of an answer that grows. `call` is the index of the call whose arguments grow. */
export type AnswerDelta =
  | { readonly kind: 'reasoning' | 'text'; readonly delta: string }
  | { readonly kind: 'call'; readonly call: number; readonly delta: string };

/** What breaks an answer. Nothing follows it, unless it is `malformed`. */
export interface AnswerFault {
  readonly kind: 'error' | 'cut' | 'malformed' | 'end';
}

/** Nothing comes for so many milliseconds; an infinite wait is an answer that stalls. */
export interface AnswerWait {
  readonly kind: 'wait';
  readonly ms: number;
}

/** What happens next to an answer. */
export type AnswerBeat = AnswerDelta | AnswerFault | AnswerWait | { readonly kind: 'finish' };

/** Plays an answer from its first delta on. */
export function* playAnswer(answer: ScriptedAnswer): Generator<AnswerBeat, void> {
  const deltas = answerDeltas(answer);
  const breaking = breakingBeat(answer);
  const breaksAt = breaking === undefined ? undefined : Math.min(breaking.after, deltas.length);
  for (let index = 0; index <= deltas.length; index++) {
    if (index > 0 && answer.deltaDelayMs !== undefined) yield { kind: 'wait', ms: answer.deltaDelayMs };
    if (breaking !== undefined && index === breaksAt) {
      yield breaking.beat;
      if (breaking.beat.kind !== 'malformed') return;
    }
    const delta = deltas[index];
    if (delta !== undefined) yield delta;
  }
  yield { kind: 'finish' };
}

/** The fault that comes before anything of the answer: the call fails, and no stream begins. */
export function faultBeforeAnswer(answer: ScriptedAnswer): 'error' | 'cut' | 'stall' | undefined {
  if (answer.error !== undefined && answer.errorAfter === undefined) return 'error';
  if (answer.cutAfter === 0) return 'cut';
  return answer.stallAfter === 0 ? 'stall' : undefined;
}

function answerDeltas(answer: ScriptedAnswer): readonly AnswerDelta[] {
  const { reasoning, text, calls } = completeAnswer(answer);
  const pieces = typeof answer.deltas === 'number' ? answer.deltas : 2;
  const textPieces = typeof answer.deltas === 'object' ? answer.deltas : splitText(text, pieces);
  return [
    ...splitText(reasoning, pieces).map((delta) => ({ kind: 'reasoning', delta }) as const),
    ...textPieces.map((delta) => ({ kind: 'text', delta }) as const),
    ...calls.flatMap(({ inputText }, call) => {
      const argumentPieces = inputText === '' ? [''] : splitText(inputText, pieces);
      return argumentPieces.map((delta) => ({ kind: 'call', call, delta }) as const);
    }),
  ];
}

/** So many pieces, or as many as there are characters; no character is split. */
function splitText(text: string, pieces: number): readonly string[] {
  const all = Array.from(text);
  const number = Math.min(pieces, all.length);
  return Array.from({ length: number }, (_, index) =>
    all.slice(Math.floor((index * all.length) / number), Math.floor(((index + 1) * all.length) / number)).join(''),
  );
}

function breakingBeat(
  answer: ScriptedAnswer,
): { readonly beat: AnswerFault | AnswerWait; readonly after: number } | undefined {
  const { errorAfter, cutAfter, stallAfter, malformedAfter, endAfter } = answer;
  if (errorAfter !== undefined) return { beat: { kind: 'error' }, after: errorAfter };
  if (cutAfter !== undefined) return { beat: { kind: 'cut' }, after: cutAfter };
  if (stallAfter !== undefined) return { beat: { kind: 'wait', ms: Number.POSITIVE_INFINITY }, after: stallAfter };
  if (malformedAfter !== undefined) return { beat: { kind: 'malformed' }, after: malformedAfter };
  return endAfter === undefined ? undefined : { beat: { kind: 'end' }, after: endAfter };
}
