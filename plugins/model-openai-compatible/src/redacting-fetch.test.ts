import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect, promisify } from 'node:util';
import type { APICallError, LanguageModelV3 } from '@ai-sdk/provider';
import { startModelServer, type ModelServer, type ScriptedError } from '@perdure/testing';
import { afterEach, describe, expect, test } from 'vitest';
import { openAiCompatibleModel } from './open-ai-compatible-model.js';

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'go' }] }];
const servers: ModelServer[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

interface Credentials {
  readonly apiKey?: string;
  readonly headers?: Record<string, string>;
}

async function callError(options: Credentials & { readonly baseUrl: string }): Promise<APICallError> {
  const model = openAiCompatibleModel({ modelId: 'm', ...options }) as LanguageModelV3;
  return model.doGenerate({ prompt }).then(
    () => Promise.reject(new Error('The call did not fail.')),
    (caught: APICallError) => caught,
  );
}

async function refusal(error: ScriptedError, credentials: Credentials): Promise<APICallError> {
  const server = await startModelServer({ script: () => ({ error }) });
  servers.push(server);
  return callError({ baseUrl: server.url, ...credentials });
}

describe('an error response that quotes a credential', () => {
  test('shows the key neither in its body nor in its headers', async () => {
    const apiKey = 'sk/abc+"1234567890"';
    const headers = { 'x-echo': `Bearer ${apiKey}`, 'x-request-id': 'r1' };
    const message = `Incorrect key: ${apiKey} at ?key=${encodeURIComponent(apiKey)}`;
    const error = await refusal({ status: 401, message, headers }, { apiKey });
    expect(error).toMatchObject({ statusCode: 401, message: 'Incorrect key: [redacted] at ?key=[redacted]' });
    expect(error.responseHeaders).toMatchObject({ 'x-echo': 'Bearer [redacted]', 'x-request-id': 'r1' });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain('1234567890');
    expect(JSON.stringify(error)).not.toContain('1234567890');
  });

  test('shows it not in a text that escapes slashes either', async () => {
    const body = '{"error":{"message":"bad key abc\\/def\\/123456"}}';
    const error = await refusal({ status: 403, body }, { apiKey: 'abc/def/123456' });
    expect(error.responseBody).toBe('{"error":{"message":"bad key [redacted]"}}');
  });

  test('shows no credential of a header, and the other headers as they are', async () => {
    const headers = { Authorization: 'Token t-1234567890', 'api-key': 'k-1234567890', 'x-team': 'team-red-1' };
    const message = 'got t-1234567890, k-1234567890 from team-red-1';
    const error = await refusal({ status: 400, message }, { headers });
    expect(error.message).toBe('got [redacted], [redacted] from team-red-1');
  });

  test('keeps common words when the key is a placeholder', async () => {
    const message = 'The key x is no key; the context is exceeded.';
    const error = await refusal({ status: 400, message, code: 'context_length_exceeded' }, { apiKey: 'x' });
    expect(error.message).toBe('The key [redacted] is no key; the context is exceeded.');
    expect(error.responseBody).toContain('context_length_exceeded');
  });

  test('keeps its status when its body breaks off', async () => {
    const server = createServer((_, response) => {
      response.writeHead(429, { 'content-length': 99 }).write('{"error":', () => response.destroy());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const error = await callError({ baseUrl: `http://127.0.0.1:${port}/v1`, apiKey: 'sk-1234567890' });
    expect(error).toMatchObject({ statusCode: 429, isRetryable: true });
    await promisify(server.close.bind(server))();
  });
});
