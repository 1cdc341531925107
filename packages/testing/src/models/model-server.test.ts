import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { startModelServer, type ModelServer } from './model-server.js';
import { contextTooLong } from './provider-failure.js';
import type { Script, ScriptedAnswer } from './script.js';

const servers: ModelServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

async function start(script: Script): Promise<ModelServer> {
  const server = await startModelServer({ script });
  servers.push(server);
  return server;
}

async function post(url: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer key' };
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return fetch(`${url}/chat/completions`, { method: 'POST', headers, body: text, ...(signal ? { signal } : {}) });
}

const chat = { model: 'm', messages: [{ role: 'user', content: 'go' }] };
const streaming = { ...chat, stream: true, stream_options: { include_usage: true } };

/** The `data:` lines of a stream. */
async function events(answer: ScriptedAnswer, body: object = streaming): Promise<readonly string[]> {
  const response = await post((await start(() => answer)).url, body);
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const text = await response.text();
  expect(text.endsWith('\n\n')).toBe(true);
  return text
    .trimEnd()
    .split('\n\n')
    .map((event) => event.replace(/^data: /, ''));
}

async function chunks(answer: ScriptedAnswer, body?: object): Promise<readonly Record<string, unknown>[]> {
  const data = await events(answer, body);
  expect(data.at(-1)).toBe('[DONE]');
  return data.slice(0, -1).map((event) => JSON.parse(event) as Record<string, unknown>);
}

describe('an answer', () => {
  test('that is not streamed is one chat completion', async () => {
    const calls = [{ name: 'add', input: { a: 1 } }, { name: 'list' }];
    const answer = { reasoning: 'hm', text: 'Hello', calls, usage: { inputTokens: 7, outputTokens: 3 } };
    const response = await post((await start(() => answer)).url, chat);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      model: 'm',
      choices: [
        {
          finish_reason: 'tool_calls',
          message: {
            role: 'assistant',
            content: 'Hello',
            reasoning_content: 'hm',
            tool_calls: [
              { id: 'call_0', type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
              { id: 'call_1', type: 'function', function: { name: 'list', arguments: '{}' } },
            ],
          },
        },
      ],
      usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
    });
  });

  test('streams reasoning, text and parallel calls, and ends with a reason', async () => {
    const calls = [{ name: 'add', input: { a: 1 } }, { name: 'list' }];
    const all = await chunks({ reasoning: 'hm', text: 'Hello', calls });
    const choices = all.map((chunk) => (chunk['choices'] as { delta: object; finish_reason: string | null }[])[0]);
    expect(choices.map((choice) => choice?.delta)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'h' },
      { reasoning_content: 'm' },
      { content: 'He' },
      { content: 'llo' },
      { tool_calls: [{ index: 0, id: 'call_0', type: 'function', function: { name: 'add', arguments: '{"a' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '":1}' } }] },
      { tool_calls: [{ index: 1, id: 'call_1', type: 'function', function: { name: 'list', arguments: '{' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '}' } }] },
      {},
      undefined,
    ]);
    expect(choices.map((choice) => choice?.finish_reason ?? null)).toEqual([
      ...Array<null>(9).fill(null),
      'tool_calls',
      null,
    ]);
  });

  test('tells usage in its last chunk, to a client that asked for it', async () => {
    const asked = await chunks({ text: 'x', usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 2 } });
    expect(asked.slice(0, -1).every((chunk) => chunk['usage'] === null)).toBe(true);
    expect(asked.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 7, total_tokens: 10 } });
    const silent = await chunks({ text: 'x' }, { ...chat, stream: true });
    expect(silent.some((chunk) => 'usage' in chunk)).toBe(false);
    const unknown = await chunks({ text: 'x', usage: null });
    expect(unknown.every((chunk) => chunk['usage'] === null)).toBe(true);
  });

  test('may be empty', async () => {
    expect((await chunks({})).length).toBe(3);
    const response = await post((await start(() => ({}))).url, chat);
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: '' }, finish_reason: 'stop' }] });
  });
});

describe('a fault', () => {
  test('is a status with its headers and its body', async () => {
    const script = [
      { error: { status: 429, retryAfter: { seconds: 7 } } },
      { error: { status: 429, retryAfter: { seconds: 60, as: 'date' as const } } },
      { error: { status: 502, body: 'Bad gateway', headers: { 'x-request-id': 'r1' } } },
      { error: contextTooLong },
      { error: { status: 401 } },
    ];
    const { url } = await start(script);
    const before = Date.now();
    const responses = [];
    for (let i = 0; i < script.length; i++) responses.push(await post(url, i % 2 === 0 ? streaming : chat));
    expect(responses.map((response) => response.status)).toEqual([429, 429, 502, 400, 401]);
    expect(responses[0]?.headers.get('retry-after')).toBe('7');
    const date = responses[1]?.headers.get('retry-after') ?? '';
    expect(new Date(date).toUTCString()).toBe(date);
    expect(Date.parse(date)).toBeGreaterThan(before + 50_000);
    expect(await responses[2]?.text()).toBe('Bad gateway');
    expect(responses[2]?.headers.get('x-request-id')).toBe('r1');
    expect(await responses[3]?.json()).toMatchObject({ error: { code: 'context_length_exceeded', param: null } });
    expect(await responses[4]?.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
  });

  test('cuts the connection, before anything or behind some deltas', async () => {
    await expect(post((await start(() => ({ text: 'abcd', cutAfter: 0 }))).url, chat)).rejects.toThrow('fetch failed');
    const response = await post((await start(() => ({ text: 'abcd', cutAfter: 1 }))).url, streaming);
    let text = '';
    const read = async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    };
    await expect(read()).rejects.toThrow('terminated');
    expect(text).toContain('"content":"ab"');
    expect(text).not.toContain('cd');
    const whole = await post((await start(() => ({ text: 'abcd', cutAfter: 1 }))).url, chat);
    await expect(whole.text()).rejects.toThrow('terminated');
  });

  test('is a piece that is no JSON, with the rest behind it', async () => {
    const data = await events({ text: 'abcd', malformedAfter: 1 });
    const broken = data.findIndex((event) => event !== '[DONE]' && !isJson(event));
    expect(data[broken - 1]).toContain('"content":"ab"');
    expect(data[broken + 1]).toContain('"content":"cd"');
    const whole = await post((await start(() => ({ text: 'abcd', malformedAfter: 1 }))).url, chat);
    expect(isJson(await whole.text())).toBe(false);
  });

  test('is an end without a reason, or an error in the stream', async () => {
    expect((await events({ text: 'abcd', endAfter: 1 })).slice(1)).toEqual([
      expect.stringContaining('"content":"ab"'),
      '[DONE]',
    ]);
    const data = await events({ text: 'abcd', error: { message: 'overloaded' }, errorAfter: 0 });
    expect(JSON.parse(data[1] ?? '')).toMatchObject({ error: { message: 'overloaded' } });
  });
});

describe('the server', () => {
  test('decides by the body alone, and keeps bodies and headers', async () => {
    const { url, requests, requestHeaders } = await start((request) => ({
      text: `${request.lastUserText}/${request.toolResultsSince.length}/${request.tools.join()}`,
    }));
    const tools = [{ type: 'function', function: { name: 'add', parameters: {} } }];
    const messages = [
      { role: 'user', content: [{ type: 'text', text: 'parts' }] },
      { role: 'tool', tool_call_id: 'call_0', content: '3' },
    ];
    const response = await post(url, { ...chat, messages, tools, temperature: 0.5 });
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: 'parts/1/add' } }] });
    expect(requests).toEqual([{ ...chat, messages, tools, temperature: 0.5 }]);
    expect(requestHeaders[0]?.authorization).toBe('Bearer key');
    expect(await (await fetch(new URL('/requests', url))).json()).toEqual(requests);
  });

  test('lists its models', async () => {
    const { url } = await start([]);
    expect(await (await fetch(`${url}/models`)).json()).toMatchObject({ data: [{ id: 'scripted', object: 'model' }] });
  });

  test('refuses what is no chat request, by the name of the member, and what it does not know', async () => {
    const { url } = await start([]);
    const noJson = await post(url, '{');
    const noRole = await post(url, { model: 'm', messages: [{ content: 'x' }] });
    const other = await fetch(`${url}/embeddings`, { method: 'POST' });
    expect([noJson.status, noRole.status, other.status]).toEqual([400, 400, 404]);
    expect(await noRole.text()).toContain('messages.0.role');
    const unforeseen = await post(url, chat);
    expect([unforeseen.status, (await unforeseen.text()).includes('script_exhausted')]).toEqual([400, true]);
  });

  test('says what is wrong with a script that fails', async () => {
    const { url } = await start(() => {
      throw new Error('no idea');
    });
    const response = await post(url, chat);
    expect([response.status, await response.text()]).toEqual([400, expect.stringContaining('no idea')]);
  });

  test('sends nothing while it stalls, forgets a client that has gone, and closes in mid-answer', async () => {
    const server = await start(() => ({ text: 'abcd', stallAfter: 0 }));
    const { url } = server;
    await expect(post(url, streaming, AbortSignal.timeout(100))).rejects.toThrow('timeout');
    const stalled = post(url, streaming);
    const idle = connect(server.port, '127.0.0.1');
    await new Promise((resolve) => idle.once('connect', resolve));
    const ended = Promise.all([
      expect(stalled).rejects.toThrow('fetch failed'),
      new Promise((resolve) => idle.once('close', resolve)),
    ]);
    await server.close();
    await ended;
    await expect(fetch(`${url}/models`)).rejects.toThrow('fetch failed');
  });
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
