import { describe, expect, test } from 'vitest';
import { Redaction } from '../secrets/redaction.js';
import { SecretRegistry } from '../secrets/secret-registry.js';
import { classifyModelError } from './model-errors.js';

const redaction = new Redaction(new SecretRegistry({}));
const codeOf = (thrown: unknown): string => classifyModelError(thrown, redaction).failure.code;

/** An error as provider packages throw it. */
function callError(statusCode: number, message: string, body: unknown): Error {
  const responseBody = typeof body === 'string' ? body : JSON.stringify(body);
  const mark = { [Symbol.for('vercel.ai.error')]: true, [Symbol.for('vercel.ai.error.AI_APICallError')]: true };
  return Object.assign(new Error(message), { statusCode, responseBody, ...mark });
}

const openAi = (message: string, code: string | null = null, type = 'invalid_request_error') => ({
  error: { message, type, param: 'messages', code },
});
const anthropic = (message: string, type = 'invalid_request_error') => ({ type: 'error', error: { type, message } });
const google = (message: string) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } });
const fromServer = (status: number, body: { readonly error: { readonly message: string } }) =>
  callError(status, body.error.message, body);

describe('a request that is longer than the context window is known by the shape of the refusal', () => {
  test.each<[string, unknown]>([
    ['OpenAI, by its code', callError(400, 'Bad Request', openAi('Too much.', 'context_length_exceeded'))],
    [
      'OpenAI',
      fromServer(
        400,
        openAi("This model's maximum context length is 8192 tokens. However, your messages resulted in 9001."),
      ),
    ],
    [
      'OpenAI Responses',
      fromServer(400, openAi('Your input exceeds the context window of this model. Please adjust it.')),
    ],
    ['Anthropic', fromServer(400, anthropic('prompt is too long: 208310 tokens > 200000 maximum'))],
    [
      'Anthropic with the answer',
      fromServer(
        400,
        anthropic('input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease it'),
      ),
    ],
    ['Anthropic, by bytes', fromServer(413, anthropic('Request exceeds the maximum size', 'request_too_large'))],
    [
      'Google',
      fromServer(
        400,
        google('The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).'),
      ),
    ],
    [
      'Google, in a list',
      callError(400, 'Bad Request', [google('The input token count (9) exceeds the maximum number of tokens')]),
    ],
    [
      'Bedrock',
      callError(400, 'Input is too long for requested model.', { message: 'Input is too long for requested model.' }),
    ],
    [
      'Bedrock by the AWS client',
      Object.assign(new Error('The model returned the following errors: prompt is too long: 9 tokens > 8 maximum'), {
        name: 'ValidationException',
      }),
    ],
    [
      'llama.cpp',
      callError(400, 'Bad Request', {
        error: { code: 400, message: 'too long', type: 'exceed_context_size_error', n_prompt_tokens: 9, n_ctx: 8 },
      }),
    ],
    [
      'llama.cpp, as a fault',
      fromServer(500, openAi('the request exceeds the available context size', null, 'server_error')),
    ],
    [
      'vLLM',
      fromServer(400, openAi('The decoder prompt (length 5000) is longer than the maximum model length of 4096.')),
    ],
    ['Ollama', callError(400, 'Bad Request', { error: 'the input length exceeds the context length' })],
    [
      'LM Studio',
      new Error('Trying to keep the first 9 tokens when context the overflows. However, it is not enough.'),
    ],
    [
      'TGI',
      callError(422, 'Unprocessable', {
        error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 2048.',
      }),
    ],
    [
      'xAI',
      callError(400, 'Bad Request', {
        code: 'invalid',
        error: "This model's maximum prompt length is 131072 but the request contains 537812 tokens.",
      }),
    ],
    [
      'Mistral',
      callError(400, 'Bad Request', {
        message: 'Prompt contains 9 tokens and 0 draft tokens, too large for model with 8 maximum context length',
      }),
    ],
    [
      'a gateway, as an answer',
      callError(200, 'Invalid JSON response', openAi("This endpoint's maximum context length is 9 tokens.")),
    ],
    [
      'a stream, in its middle',
      { type: 'error', error: { type: 'invalid_request_error', message: 'prompt is too long: 9 tokens' } },
    ],
    ['a stream, by its code', { type: 'error', code: 'context_length_exceeded', message: 'no' }],
  ])('of %s', (_, thrown) => {
    expect(codeOf(thrown)).toBe('PERDURE_MODEL_CONTEXT_OVERFLOW');
    expect(classifyModelError(thrown, redaction).retryable).toBe(false);
  });
});

describe('what only sounds like it is not', () => {
  test.each<[string, unknown, string]>([
    [
      'a limit of tokens a minute',
      fromServer(
        429,
        openAi(
          'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 50000.',
          'rate_limit_exceeded',
        ),
      ),
      'PERDURE_MODEL_RATE_LIMITED',
    ],
    [
      'the number of input tokens a minute',
      fromServer(
        429,
        anthropic('The number of input tokens has exceeded your per-minute rate limit', 'rate_limit_error'),
      ),
      'PERDURE_MODEL_RATE_LIMITED',
    ],
    [
      'a name that is too long',
      fromServer(
        400,
        openAi(
          "Invalid 'tools[0].function.name': string too long. Expected a maximum length of 64.",
          'string_above_max_length',
        ),
      ),
      'PERDURE_MODEL_REQUEST',
    ],
    [
      'an output limit',
      fromServer(400, openAi('max_tokens is too large: 99999. This model supports at most 16384 completion tokens.')),
      'PERDURE_MODEL_REQUEST',
    ],
    [
      'a body that repeats the request',
      callError(400, 'Bad Request', { error: { message: 'no such model' }, input: 'prompt is too long' }),
      'PERDURE_MODEL_REQUEST',
    ],
    [
      'no permission',
      fromServer(403, openAi('Your input exceeds the context window of this model.')),
      'PERDURE_MODEL_AUTHENTICATION',
    ],
    [
      'a fault of the server',
      fromServer(500, openAi('The server had an error.', null, 'server_error')),
      'PERDURE_MODEL_UNAVAILABLE',
    ],
    [
      'a rate in a stream',
      { type: 'rate_limit_error', message: 'too many tokens per minute' },
      'PERDURE_MODEL_RATE_LIMITED',
    ],
  ])('%s', (_, thrown, code) => {
    expect(codeOf(thrown)).toBe(code);
  });
});
