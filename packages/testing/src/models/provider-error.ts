import type { JsonValue } from '@perdure/events';
import { providerFailure } from './provider-failure.js';
import type { ScriptedError } from './script.js';

/**
 * Errors with the members and the marks that those of the AI SDK have. Programs that tell them apart as the SDK does,
 * by the marks, find these to be the same.
 */
interface ProviderErrorMembers {
  readonly message: string;
  readonly isRetryable: boolean;
  readonly statusCode?: number;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly responseBody?: string;
  readonly data?: JsonValue;
  readonly cause?: unknown;
}

const URL = 'http://scripted.invalid/v1/chat/completions';

/** The error of a call that the provider refused or that never reached it. */
export function scriptedFailure(error: ScriptedError): Error {
  if (error.status === undefined) return connectionFailure();
  const { status, message, headers, body } = providerFailure(error);
  return apiCallError({
    message,
    statusCode: status,
    responseHeaders: headers,
    responseBody: typeof body === 'string' ? body : JSON.stringify(body),
    ...(typeof body === 'string' ? {} : { data: body }),
    isRetryable: status === 408 || status === 409 || status === 429 || status >= 500,
  });
}

/** The connection ended before an answer began. */
export function connectionFailure(): Error {
  const cause = socketError();
  return apiCallError({ message: `Cannot connect to API: ${cause.message}`, isRetryable: true, cause });
}

/** The connection ended in the middle of an answer. */
export function brokenAnswer(): Error {
  return apiCallError({
    message: 'Failed to process successful response',
    statusCode: 200,
    responseHeaders: {},
    isRetryable: true,
    cause: new TypeError('terminated', { cause: socketError() }),
  });
}

/** A whole answer could not be read, or holds an error although its status is 200. */
export function unreadableAnswer(responseBody: string, cause: Error): Error {
  return apiCallError({
    message: 'Invalid JSON response',
    statusCode: 200,
    responseHeaders: {},
    responseBody,
    isRetryable: false,
    cause,
  });
}

/** A piece of an answer is no JSON. */
export function jsonParseError(text: string): Error {
  const cause = new SyntaxError('Unexpected end of JSON input');
  const message = `JSON parsing failed: Text: ${text}.\nError message: ${cause.message}`;
  return marked(new Error(message, { cause }), 'AI_JSONParseError', { text });
}

/** An answer has not the shape that the protocol asks for. */
export function typeValidationError(value: JsonValue): Error {
  const message = `Type validation failed: Value: ${JSON.stringify(value)}.`;
  return marked(new Error(message), 'AI_TypeValidationError', { value });
}

/** A stream ended in good order and does not say why. */
export function missingFinish(): Error {
  const message = 'Response stream ended without a finish reason.';
  return marked(new Error(message), 'AI_InvalidResponseDataError', { data: undefined });
}

function apiCallError(members: ProviderErrorMembers): Error {
  const { message, cause, ...rest } = members;
  const error = cause === undefined ? new Error(message) : new Error(message, { cause });
  const all = { url: URL, requestBodyValues: {}, statusCode: undefined, responseHeaders: undefined, ...rest };
  return marked(error, 'AI_APICallError', all);
}

function socketError(): Error {
  return Object.assign(new Error('other side closed'), { name: 'SocketError', code: 'UND_ERR_SOCKET' });
}

function marked(error: Error, name: string, members: object): Error {
  Object.assign(error, { name }, members);
  for (const mark of ['vercel.ai.error', `vercel.ai.error.${name}`]) {
    Object.defineProperty(error, Symbol.for(mark), { value: true, enumerable: true });
  }
  return error;
}
