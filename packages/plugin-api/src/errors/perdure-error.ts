import { cutText } from './cut-text.js';
import { errorTable, type ErrorCode, type ErrorEntry } from './table.js';

const BRAND = Symbol.for('perdure.error');

/** Ids and small scalars; never prompts, contents or secrets. */
export type ErrorData = Readonly<Record<string, string | number | boolean | undefined>>;

/** The only error that Perdure throws on purpose. Tell it apart with `isPerdureError`, never by class or message. */
export class PerdureError extends Error {
  override readonly name = 'PerdureError';
  readonly code: ErrorCode;
  readonly data: ErrorData;

  constructor(code: ErrorCode, data: ErrorData = {}, options?: { readonly cause?: unknown }) {
    super(errorMessage(code, data), options);
    this.code = code;
    this.data = data;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Kind, retryability and HTTP status of the code. */
  get entry(): ErrorEntry {
    return errorTable[this.code];
  }
}

/**
 * Whether a value is a PerdureError, also one of another copy of this package, and has the code if one is given. A code
 * that the table of this copy lacks is none. Never throws, whatever the value is.
 */
export function isPerdureError(error: unknown, code?: ErrorCode): error is PerdureError {
  try {
    if (typeof error !== 'object' || error === null || !(BRAND in error)) return false;
    const actual: unknown = (error as unknown as PerdureError).code;
    return typeof actual === 'string' && Object.hasOwn(errorTable, actual) && actual === (code ?? actual);
  } catch {
    return false;
  }
}

/** The message of a code with its data filled in; a member that the data lacks stays as its name. */
export function errorMessage(code: ErrorCode, data: ErrorData): string {
  const filled = errorTable[code].message.replace(/\{(\w+)\}/g, (_, name: string) => String(data[name] ?? name));
  // A reason is often a sentence of its own.
  return filled.replace(/([.…])\.$/, '$1');
}

const LONGEST_REASON = 300;

/**
 * What a thrown value says, for the `reason` of an error's data: a text, whatever was thrown. Long ones are cut behind
 * the word at 300 characters.
 */
export function reasonOf(error: unknown): string {
  const text = textOf(error);
  const cut = cutText(text, LONGEST_REASON);
  return cut === text ? text : `${cut}…`;
}

function textOf(error: unknown): string {
  try {
    return String(error instanceof Error ? error.message : error);
  } catch {
    // A value without a prototype, or one whose own code throws.
    return 'something was thrown that has no text';
  }
}
