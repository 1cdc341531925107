import { ReadableStream } from 'node:stream/web';
import { pause } from './abort.js';
import type { AnswerWait } from './play-answer.js';

/** A stream that makes each part when its reader asks for it, and errs with the reason of the signal. */
export function partStream<Part>(
  parts: Iterator<{ readonly part: Part } | AnswerWait, void>,
  abortSignal: AbortSignal | undefined,
): ReadableStream<Part> {
  const cancelled = new AbortController();

  async function nextPart(): Promise<Part | undefined> {
    for (;;) {
      abortSignal?.throwIfAborted();
      const next = parts.next();
      if (next.done === true) return undefined;
      if ('part' in next.value) return next.value.part;
      const signals = abortSignal === undefined ? [] : [abortSignal];
      await pause(next.value.ms, AbortSignal.any([cancelled.signal, ...signals]));
    }
  }

  return new ReadableStream<Part>(
    {
      async pull(controller) {
        const part = await nextPart();
        if (part === undefined) controller.close();
        else controller.enqueue(part);
      },
      cancel: () => cancelled.abort(),
    },
    { highWaterMark: 0 },
  );
}
