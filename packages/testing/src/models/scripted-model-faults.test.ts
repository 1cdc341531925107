import type { ReadableStreamDefaultReader } from 'node:stream/web';
import { describe, expect, test } from 'vitest';
import type { ScriptedAnswer } from './script.js';
import { ScriptedModel } from './scripted-model.js';
import type { StreamPart } from './stream-parts.js';

const prompt = [{ role: 'user', content: [{ type: 'text', text: 'go' }] }];
const MARK = Symbol.for('vercel.ai.error.AI_APICallError');

/** The parts that came, and what the stream erred with. */
async function streamed(answer: ScriptedAnswer): Promise<{ parts: readonly StreamPart<'v3'>[]; error: unknown }> {
  const { stream } = await new ScriptedModel(() => answer).doStream({ prompt });
  const parts: StreamPart<'v3'>[] = [];
  try {
    for await (const part of stream) parts.push(part);
    return { parts, error: undefined };
  } catch (error) {
    return { parts, error };
  }
}

/** Reads up to the first piece of the text. */
async function readToText(reader: ReadableStreamDefaultReader<StreamPart<'v3'>>): Promise<void> {
  let part = await reader.read();
  while (part.value?.type !== 'text-delta') part = await reader.read();
}

async function rejection(
  answer: ScriptedAnswer,
  how: 'doGenerate' | 'doStream',
): Promise<Record<PropertyKey, unknown>> {
  const model = new ScriptedModel(() => answer);
  const error: unknown = await model[how]({ prompt }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error as Record<PropertyKey, unknown>;
}

function deltas(parts: readonly StreamPart<'v3'>[]): readonly string[] {
  return parts.flatMap((part) => ('delta' in part ? [part.delta] : []));
}

describe.each(['doGenerate', 'doStream'] as const)('%s of a provider that fails', (how) => {
  test('rejects with the status, the headers and the body', async () => {
    const error = await rejection({ error: { status: 429, retryAfter: { seconds: 3 } } }, how);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name: 'AI_APICallError', [MARK]: true, statusCode: 429, isRetryable: true });
    expect(error['responseHeaders']).toEqual({ 'retry-after': '3' });
    expect(JSON.parse(String(error['responseBody']))).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
    expect(error['data']).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  });

  test.each([
    [400, false],
    [401, false],
    [409, true],
    [500, true],
    [503, true],
  ])('tells of status %i whether to try again: %s', async (status, isRetryable) => {
    expect(await rejection({ error: { status } }, how)).toMatchObject({ statusCode: status, isRetryable });
  });

  test('rejects without a status when nothing was answered', async () => {
    for (const answer of [{ error: {} }, { text: 'abc', cutAfter: 0 }]) {
      const error = await rejection(answer, how);
      expect(error).toMatchObject({ [MARK]: true, statusCode: undefined, isRetryable: true });
      expect(error['cause']).toMatchObject({ code: 'UND_ERR_SOCKET' });
    }
  });

  test('rejects with the abort reason, before the call and while nothing comes', async () => {
    const reason = new Error('stopped by the user');
    const model = new ScriptedModel(() => ({ text: 'abc', stallAfter: 0 }));
    await expect(model[how]({ prompt, abortSignal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    const stop = new AbortController();
    const pending = model[how]({ prompt, abortSignal: stop.signal });
    stop.abort(reason);
    await expect(pending).rejects.toBe(reason);
  });

  test('does not wait for its script when it is aborted', async () => {
    const stop = new AbortController();
    const pending = new ScriptedModel(() => new Promise(() => undefined))[how]({ prompt, abortSignal: stop.signal });
    stop.abort('enough');
    await expect(pending).rejects.toBe('enough');
  });

  test('waits before it answers', async () => {
    const stop = new AbortController();
    const pending = new ScriptedModel(() => ({ delayMs: 3_600_000 }))[how]({ prompt, abortSignal: stop.signal });
    setImmediate(() => stop.abort('too long'));
    await expect(pending).rejects.toBe('too long');
  });
});

describe('a stream that breaks', () => {
  test('errs behind the deltas that came before the cut', async () => {
    const { parts, error } = await streamed({ text: 'abcd', cutAfter: 1 });
    expect(deltas(parts)).toEqual(['ab']);
    expect(error).toMatchObject({ [MARK]: true, statusCode: 200, isRetryable: true });
  });

  test('holds a malformed piece as an error part and goes on', async () => {
    const { parts } = await streamed({ text: 'abcd', malformedAfter: 1 });
    expect(deltas(parts)).toEqual(['ab', 'cd']);
    expect(parts.find((part) => part.type === 'error')).toMatchObject({ error: { name: 'AI_JSONParseError' } });
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'stop' } });
  });

  test('that ends early shows half a call, an error part and no reason', async () => {
    const { parts } = await streamed({ calls: [{ name: 'add', input: { a: 1 } }], endAfter: 1 });
    expect(parts.slice(-3)).toMatchObject([
      { type: 'tool-call', toolName: 'add', input: '{"a' },
      { type: 'error', error: { name: 'AI_InvalidResponseDataError' } },
      { type: 'finish', finishReason: { unified: 'error', raw: undefined } },
    ]);
  });

  test('holds an error of the provider as it was sent', async () => {
    const { parts } = await streamed({ text: 'abcd', error: { message: 'overloaded' }, errorAfter: 1 });
    expect(parts.slice(-4)).toMatchObject([
      { type: 'text-delta', delta: 'ab' },
      { type: 'error', error: { message: 'overloaded', type: 'server_error' } },
      { type: 'text-end' },
      { type: 'finish', finishReason: { unified: 'error' } },
    ]);
  });

  test('errs with the abort reason while it stalls or waits', async () => {
    for (const answer of [
      { text: 'abcd', stallAfter: 1 },
      { text: 'abcd', deltaDelayMs: 3_600_000 },
    ]) {
      const stop = new AbortController();
      const { stream } = await new ScriptedModel(() => answer).doStream({ prompt, abortSignal: stop.signal });
      const reader = stream.getReader();
      await readToText(reader);
      const pending = reader.read();
      stop.abort('no more');
      await expect(pending).rejects.toBe('no more');
    }
  });

  test('lets go of its waits when its reader does', async () => {
    const { stream } = await new ScriptedModel(() => ({ text: 'abcd', deltaDelayMs: 3_600_000 })).doStream({ prompt });
    const reader = stream.getReader();
    await readToText(reader);
    const pending = reader.read();
    await reader.cancel();
    expect(await pending).toEqual({ done: true, value: undefined });
  });
});

describe('a whole answer that breaks', () => {
  test.each([
    ['cut', { text: 'abcd', cutAfter: 1 }, 'Failed to process successful response', true],
    ['malformed', { text: 'abcd', malformedAfter: 1 }, 'Invalid JSON response', false],
    ['an error', { text: 'abcd', error: {}, errorAfter: 1 }, 'Invalid JSON response', false],
  ])('by %s', async (_, answer, message, isRetryable) => {
    const error = await rejection(answer, 'doGenerate');
    expect(error).toMatchObject({ [MARK]: true, message, statusCode: 200, isRetryable });
  });

  test('by its end is whole but for the reason', async () => {
    const whole = await new ScriptedModel(() => ({ text: 'abcd', endAfter: 1 })).doGenerate({ prompt });
    expect(whole).toMatchObject({ content: [{ text: 'abcd' }], finishReason: { unified: 'other', raw: undefined } });
  });
});
