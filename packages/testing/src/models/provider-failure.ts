import type { JsonValue } from '@perdure/events';
import type { ScriptedError } from './script.js';

/** An error response as an OpenAI-compatible endpoint gives it. */
export interface ProviderFailure {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: JsonValue;
  readonly message: string;
}

/** What a provider of this protocol says when a request is larger than the model's context window. */
export const contextTooLong: ScriptedError = {
  status: 400,
  type: 'invalid_request_error',
  code: 'context_length_exceeded',
  message:
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. " +
    'Please reduce the length of the messages.',
};

/** The response that a scripted error stands for; a status that is absent is 500. */
export function providerFailure(error: ScriptedError): ProviderFailure {
  const status = error.status ?? 500;
  const usual = usualFailure(status);
  const message = error.message ?? usual.message;
  const body = { error: { message, type: error.type ?? usual.type, param: null, code: error.code ?? usual.code } };
  return {
    status,
    message,
    headers: { ...error.headers, ...retryAfterHeader(error.retryAfter) },
    body: error.body ?? body,
  };
}

function usualFailure(status: number): { readonly message: string; readonly type: string; readonly code: string } {
  if (status === 401) {
    return { message: 'Incorrect API key provided.', type: 'invalid_request_error', code: 'invalid_api_key' };
  }
  if (status === 429) {
    return { message: 'Rate limit reached for requests.', type: 'requests', code: 'rate_limit_exceeded' };
  }
  if (status < 500) {
    return { message: 'The request is not valid.', type: 'invalid_request_error', code: 'invalid_request' };
  }
  return { message: 'The server had an error.', type: 'server_error', code: 'server_error' };
}

function retryAfterHeader(retryAfter: ScriptedError['retryAfter']): Readonly<Record<string, string>> {
  if (retryAfter === undefined) return {};
  const { seconds } = retryAfter;
  const date = new Date(Date.now() + seconds * 1000).toUTCString();
  return { 'retry-after': retryAfter.as === 'date' ? date : String(seconds) };
}
