import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { PerdureError, type LanguageModel } from '@perdure/plugin-api';
import { secretsOf } from './credentials.js';
import { redactingFetch } from './redacting-fetch.js';

export interface OpenAiCompatibleModelOptions {
  /** The endpoint up to and without `/chat/completions`, for one `https://api.example.com/v1`. */
  readonly baseUrl: string;
  readonly modelId: string;
  /** Sent as `Authorization: Bearer <apiKey>`. */
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The provider's name in facts; `openai-compatible` when absent. */
  readonly name?: string;
}

/**
 * A chat model of an OpenAI-compatible endpoint, as the AI SDK makes it (specification v3). Streams ask for usage.
 *
 * Throws PERDURE_CONFIGURATION that names the option. Neither errors nor the model show the key, or the value of a
 * header whose name says that it is a credential.
 */
export function openAiCompatibleModel(options: OpenAiCompatibleModelOptions): LanguageModel {
  return createModel(options, '');
}

/** `at` stands before the names of options in errors. */
export function createModel(options: OpenAiCompatibleModelOptions, at: string): LanguageModel {
  const { apiKey, headers = {}, name = 'openai-compatible' } = options;
  if (options.modelId === '') throw invalid(`${at}modelId`, 'must not be empty');
  if (!/^[^.\s]+$/.test(name)) throw invalid(`${at}name`, 'must not be empty and must not hold a dot or a space');
  if (apiKey !== undefined) checkHeaderValue(`${at}apiKey`, apiKey);
  for (const [header, value] of Object.entries(headers)) {
    checkHeaderName(`${at}headers`, header);
    checkHeaderValue(`${at}headers.${header}`, value);
  }
  const provider = createOpenAICompatible({
    name,
    baseURL: checkBaseUrl(`${at}baseUrl`, options.baseUrl),
    ...(apiKey === undefined ? {} : { apiKey }),
    headers: { ...headers },
    includeUsage: true,
    fetch: redactingFetch(secretsOf(apiKey, headers)),
  });
  return provider.chatModel(options.modelId);
}

/** The base URL without slashes at its end. */
function checkBaseUrl(field: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw invalid(field, 'is not a URL');
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw invalid(field, 'must begin with http:// or https://');
  if (url.username !== '' || url.password !== '') {
    throw invalid(field, 'must not hold credentials; give them as apiKey or as a header');
  }
  if (url.search !== '' || url.hash !== '') throw invalid(field, 'must not hold a query or a fragment');
  return url.href.replace(/\/+$/, '');
}

function checkHeaderName(field: string, name: string): void {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) throw invalid(field, 'holds a name that is not one of a header');
}

/** Fetch refuses other values with an error that quotes them. */
function checkHeaderValue(field: string, value: string): void {
  if (value === '') throw invalid(field, 'must not be empty');
  if (!/^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    throw invalid(field, 'holds a character that a header cannot carry, or a space or line break at an end');
  }
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_CONFIGURATION', { field, reason });
}
