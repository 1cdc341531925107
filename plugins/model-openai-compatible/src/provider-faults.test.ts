import { APICallError, type LanguageModelV3, type LanguageModelV3StreamPart } from '@ai-sdk/provider';
import { contextTooLong, startModelServer, type ModelServer, type ScriptedAnswer } from '@perdure/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { openAiCompatibleModel } from './open-ai-compatible-model.js';

const servers: ModelServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function modelFor(answer: ScriptedAnswer): Promise<LanguageModelV3> {
  const server = await startModelServer({ script: () => answer });
  servers.push(server);
  return openAiCompatibleModel({ baseUrl: server.url, modelId: 'm', apiKey: 'sk-test' }) as LanguageModelV3;
}

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'go' }] }];
const calls = [{ name: 'add', input: { a: 1 } }];

/** What a call rejects with. */
async function rejection(call: PromiseLike<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** The parts that came, and what the stream erred with. */
async function streamed(
  answer: ScriptedAnswer,
  abortSignal?: AbortSignal,
  onPart?: (part: LanguageModelV3StreamPart) => void,
) {
  const model = await modelFor(answer);
  const { stream } = await model.doStream({ prompt, ...(abortSignal === undefined ? {} : { abortSignal }) });
  const parts: LanguageModelV3StreamPart[] = [];
  try {
    for await (const part of stream) {
      parts.push(part);
      onPart?.(part);
    }
    return { parts, error: undefined };
  } catch (error) {
    return { parts, error };
  }
}

function errorsIn(parts: readonly LanguageModelV3StreamPart[]): readonly unknown[] {
  return parts.flatMap((part) => (part.type === 'error' ? [part.error] : []));
}

describe.each(['doGenerate', 'doStream'] as const)('%s rejects', (how) => {
  test.each([
    [429, true, 'rate_limit_exceeded'],
    [500, true, 'server_error'],
    [503, true, 'server_error'],
    [401, false, 'invalid_api_key'],
    [400, false, 'invalid_request'],
  ])('on status %i with the status, whether to try again (%s) and the body', async (status, isRetryable, code) => {
    const error = await rejection((await modelFor({ error: { status } }))[how]({ prompt }));
    expect(APICallError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({
      name: 'AI_APICallError',
      statusCode: status,
      isRetryable,
      data: { error: { code } },
    });
    expect(JSON.parse((error as APICallError).responseBody ?? '')).toMatchObject({ error: { code } });
  });

  test.each(['seconds', 'date'] as const)('on a rate limit with Retry-After in %s among the headers', async (as) => {
    const model = await modelFor({ error: { status: 429, retryAfter: { seconds: 30, as } } });
    const { responseHeaders } = (await rejection(model[how]({ prompt }))) as APICallError;
    const value = responseHeaders?.['retry-after'] ?? '';
    if (as === 'seconds') expect(value).toBe('30');
    else expect(Date.parse(value)).toBeGreaterThan(Date.now());
  });

  test('on a context that is too long with the code in the body', async () => {
    const error = await rejection((await modelFor({ error: contextTooLong }))[how]({ prompt }));
    expect(error).toMatchObject({ statusCode: 400, isRetryable: false, message: contextTooLong.message });
    expect((error as APICallError).responseBody).toContain('context_length_exceeded');
  });

  test('on a body that is no JSON with the text, and the status for a message', async () => {
    const error = await rejection((await modelFor({ error: { status: 502, body: '<html>' } }))[how]({ prompt }));
    expect(error).toMatchObject({ statusCode: 502, message: 'Bad Gateway', responseBody: '<html>', data: undefined });
  });

  test('on a connection that ends before the answer, without a status', async () => {
    const error = await rejection((await modelFor({ text: 'abcd', cutAfter: 0 }))[how]({ prompt }));
    expect(error).toMatchObject({ name: 'AI_APICallError', statusCode: undefined, isRetryable: true });
    expect((error as APICallError).cause).toMatchObject({ code: 'UND_ERR_SOCKET' });
  });

  test('on an endpoint that is not there', async () => {
    const model = await modelFor({});
    await servers[0]?.close();
    const error = await rejection(model[how]({ prompt }));
    expect(error).toMatchObject({ name: 'AI_APICallError', statusCode: undefined, isRetryable: true });
    expect((error as APICallError).cause).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('when it is aborted while nothing comes, with the reason', async () => {
    const model = await modelFor({ text: 'abcd', stallAfter: 0 });
    for (const reason of [new Error('stopped'), new DOMException('stopped', 'AbortError')]) {
      const stop = new AbortController();
      const pending = rejection(model[how]({ prompt, abortSignal: stop.signal }));
      setTimeout(() => stop.abort(reason), 50);
      expect(await pending).toBe(reason);
    }
  });
});

describe('a stream', () => {
  test('that is cut errs, and no call of it is complete', async () => {
    const { parts, error } = await streamed({ text: 'abcd', calls, cutAfter: 3 });
    expect(parts.at(-1)).toMatchObject({ type: 'tool-input-delta' });
    expect(error).toMatchObject({ name: 'AI_APICallError', statusCode: 200, isRetryable: true });
    expect((error as APICallError).cause).toMatchObject({ message: 'terminated', cause: { code: 'UND_ERR_SOCKET' } });
  });

  test('with a malformed chunk holds an error part and still ends well', async () => {
    const { parts, error } = await streamed({ text: 'abcd', malformedAfter: 1 });
    expect(error).toBeUndefined();
    expect(errorsIn(parts)).toMatchObject([{ name: 'AI_JSONParseError' }]);
    expect(parts.filter((part) => part.type === 'text-delta').map((part) => part.delta)).toEqual(['ab', 'cd']);
    expect(parts.at(-1)).toMatchObject({ type: 'finish', finishReason: { unified: 'stop' } });
  });

  test('that ends early shows half a call, an error part and a finish without usage', async () => {
    const { parts } = await streamed({ calls, endAfter: 1 });
    expect(parts.slice(-3)).toMatchObject([
      { type: 'tool-call', input: '{"a' },
      { type: 'error', error: { name: 'AI_InvalidResponseDataError' } },
      {
        type: 'finish',
        finishReason: { unified: 'error', raw: undefined },
        usage: { inputTokens: { total: undefined } },
      },
    ]);
  });

  test('with an error of the provider holds it as it was sent', async () => {
    const { parts } = await streamed({ text: 'abcd', error: { message: 'overloaded', code: 'busy' }, errorAfter: 1 });
    expect(errorsIn(parts)).toEqual([{ message: 'overloaded', type: 'server_error', param: null, code: 'busy' }]);
    expect(parts.at(-1)).toMatchObject({ finishReason: { unified: 'error', raw: undefined } });
  });

  test('of an empty answer only ends', async () => {
    const { parts } = await streamed({});
    expect(parts.map((part) => part.type)).toEqual(['stream-start', 'response-metadata', 'finish']);
    expect(parts.at(-1)).toMatchObject({ finishReason: { unified: 'stop' } });
  });

  test('that is slow arrives whole', async () => {
    const { parts } = await streamed({ text: 'abc', deltas: 3, delayMs: 5, deltaDelayMs: 5 });
    expect(parts.filter((part) => part.type === 'text-delta').map((part) => part.delta)).toEqual(['a', 'b', 'c']);
  });

  test('that is aborted errs with an AbortError as it is, and with another reason as a cause', async () => {
    for (const reason of [new DOMException('stopped', 'AbortError'), new Error('stopped')]) {
      const stop = new AbortController();
      const stopAtText = (part: LanguageModelV3StreamPart) => {
        if (part.type === 'text-delta') stop.abort(reason);
      };
      const { parts, error } = await streamed({ text: 'abcd', stallAfter: 1 }, stop.signal, stopAtText);
      expect(parts.at(-1)).toMatchObject({ type: 'text-delta', delta: 'ab' });
      if (reason instanceof DOMException) expect(error).toBe(reason);
      else expect(error).toMatchObject({ name: 'AI_APICallError', isRetryable: false, cause: reason });
    }
  });
});

describe('a whole answer', () => {
  test('that is cut rejects as a stream does', async () => {
    const error = await rejection((await modelFor({ text: 'abcd', cutAfter: 1 })).doGenerate({ prompt }));
    expect(error).toMatchObject({ statusCode: 200, isRetryable: true, cause: { message: 'terminated' } });
  });

  test.each([
    ['is no JSON', { text: 'abcd', malformedAfter: 1 }, 'AI_JSONParseError'],
    ['is an error in spite of its status', { error: { message: 'busy' }, errorAfter: 0 }, 'AI_TypeValidationError'],
  ])('that %s rejects with the body, and not to be tried again', async (_, answer, cause) => {
    const error = await rejection((await modelFor(answer)).doGenerate({ prompt }));
    expect(error).toMatchObject({ message: 'Invalid JSON response', statusCode: 200, isRetryable: false });
    expect(error).toMatchObject({ cause: { name: cause }, responseBody: expect.any(String) as string });
  });

  test('that gives no reason for its end is whole', async () => {
    const { content, finishReason } = await (await modelFor({ text: 'abcd', endAfter: 1 })).doGenerate({ prompt });
    expect([content, finishReason]).toEqual([[{ type: 'text', text: 'abcd' }], { unified: 'other', raw: undefined }]);
  });
});
