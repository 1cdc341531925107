import type { Failure } from '@perdure/events';
import { errorMessage, isPerdureError, reasonOf, type ErrorCode } from '@perdure/plugin-api';
import type { Redaction } from '../secrets/redaction.js';
import { saysOverflow } from './context-overflow.js';

/** A failed try of a model call, sorted by what can be done about it. */
export interface ModelFailure {
  readonly failure: Failure;
  /** HTTP status, when there was a response. */
  readonly status?: number;
  readonly retryable: boolean;
  /** How long the provider asks to wait. */
  readonly retryAfterMs?: number;
}

/** What provider packages put on their errors. Their classes are not imported: every version marks its errors alike. */
interface ProviderError {
  readonly statusCode?: unknown;
  readonly responseHeaders?: unknown;
  readonly responseBody?: unknown;
  readonly cause?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly message?: unknown;
}

const PROVIDER_ERROR = Symbol.for('vercel.ai.error');
const CALL_ERROR = Symbol.for('vercel.ai.error.AI_APICallError');

/** Sorts what a model threw or sent as an error. */
export function classifyModelError(thrown: unknown, redaction: Redaction): ModelFailure {
  if (isPerdureError(thrown)) {
    return { failure: { code: thrown.code, message: thrown.message }, retryable: thrown.entry.retryable };
  }
  const error: ProviderError = typeof thrown === 'object' && thrown !== null ? thrown : { message: reasonOf(thrown) };
  const failed = (code: ErrorCode, retryable: boolean): ModelFailure => ({
    failure: { code, message: `${errorMessage(code, {})} ${redaction.redactText(textOf(error))}`.trim() },
    retryable,
  });
  const { statusCode } = error;
  if (typeof statusCode === 'number' && statusCode >= 300) return ofStatus(statusCode, error, failed);
  if (CALL_ERROR in error) {
    if (saysOverflow(error.responseBody)) return failed('PERDURE_MODEL_CONTEXT_OVERFLOW', false);
    // An answer that began well and could not be read to its end, or no answer at all.
    return failed(statusCode === undefined ? 'PERDURE_MODEL_UNAVAILABLE' : 'PERDURE_MODEL_PROTOCOL', true);
  }
  if (PROVIDER_ERROR in error) return failed('PERDURE_MODEL_PROTOCOL', true);
  if (!(thrown instanceof Error)) return inBand(error, failed);
  if (saysOverflow(textOf(error))) return failed('PERDURE_MODEL_CONTEXT_OVERFLOW', false);
  return failed('PERDURE_MODEL_UNAVAILABLE', isNetworkError(error));
}

type Failed = (code: ErrorCode, retryable: boolean) => ModelFailure;

function ofStatus(status: number, error: ProviderError, failed: Failed): ModelFailure {
  const retryAfterMs = readRetryAfter(error.responseHeaders);
  const wait = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 429) return { ...failed('PERDURE_MODEL_RATE_LIMITED', true), status, ...wait };
  if (status === 401 || status === 403) return { ...failed('PERDURE_MODEL_AUTHENTICATION', false), status };
  // Some servers and gateways give it as a fault of their own.
  const isOverflow = status === 413 || saysOverflow(textOf(error)) || saysOverflow(error.responseBody);
  if (isOverflow) return { ...failed('PERDURE_MODEL_CONTEXT_OVERFLOW', false), status };
  if (status === 408 || status === 409 || status >= 500) {
    return { ...failed('PERDURE_MODEL_UNAVAILABLE', true), status, ...wait };
  }
  return { ...failed('PERDURE_MODEL_REQUEST', false), status };
}

/** An error that came as a part of an answer: a plain object with a type or a code. */
function inBand(error: ProviderError, failed: Failed): ModelFailure {
  const kind = `${word(error.type)} ${word(error.code)}`;
  if (saysOverflow(error)) return failed('PERDURE_MODEL_CONTEXT_OVERFLOW', false);
  if (/rate_limit|too_many_requests/i.test(kind)) return failed('PERDURE_MODEL_RATE_LIMITED', true);
  if (/invalid_request|authentication|permission/i.test(kind)) return failed('PERDURE_MODEL_REQUEST', false);
  return failed('PERDURE_MODEL_UNAVAILABLE', true);
}

function word(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** The members that hold the request are never looked at: they would repeat the whole prompt. */
function textOf(error: ProviderError): string {
  return reasonOf(error instanceof Error ? error : (error.message ?? ''));
}

function isNetworkError(error: ProviderError): boolean {
  for (
    let cause: unknown = error;
    typeof cause === 'object' && cause !== null;
    cause = (cause as ProviderError).cause
  ) {
    const { code } = cause as ProviderError;
    if (typeof code === 'string' && /^(E[A-Z]+|UND_ERR_[A-Z_]+)$/.test(code)) return true;
  }
  return false;
}

/** `Retry-After` in seconds or as a date; `retry-after-ms` where a provider sends it. */
function readRetryAfter(headers: unknown): number | undefined {
  const of = (name: string): string | undefined => {
    const value: unknown =
      typeof headers === 'object' && headers !== null ? (headers as Record<string, unknown>)[name] : undefined;
    return typeof value === 'string' ? value : undefined;
  };
  const ms = Number(of('retry-after-ms'));
  if (Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  const after = of('retry-after');
  if (after === undefined) return undefined;
  const seconds = Number(after);
  if (Number.isFinite(seconds)) return Math.max(0, Math.round(seconds * 1_000));
  const date = Date.parse(after);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}
