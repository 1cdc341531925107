import { PerdureError } from '@perdure/plugin-api';
import { formatWords, type JsonValue } from '@perdure/events';
import type { Replacement } from './replacement.js';
import { spellingsOf, type SecretSpelling } from './secret-spellings.js';

const REFERENCE = /secret:\/\/([A-Za-z0-9_.-]+)/g;
const NAME = /^[A-Za-z0-9_.-]+$/;
/** A shorter value would turn up by chance and would not be worth hiding. */
const SHORTEST = 6;
const IN_NUMBERS = /^[-+.e0-9]+$/;

/**
 * Values that the host registered under names. Everywhere but inside the tool invoker they are references,
 * `secret://<name>`: what models, facts, streams and logs see.
 */
export class SecretRegistry {
  /** Every spelling of every value, longest first. */
  private readonly spellings: readonly SecretSpelling[];
  /** What of the spellings can stand before a gap, up to the gap and with it. */
  private readonly beginnings: readonly string[];
  private readonly values: ReadonlyMap<string, string>;
  /** Whether a number can show a value. */
  readonly hasNumbers: boolean;
  /** Characters of the longest and of the shortest spelling. */
  readonly longest: number;
  readonly shortest: number;

  /**
   * Throws PERDURE_CONFIGURATION naming the secret when a name or value cannot be used: one in the place of which a
   * reference would make facts unreadable. The error holds no value.
   */
  constructor(secrets: Readonly<Record<string, string>> = {}) {
    const values = new Map(Object.entries(secrets));
    const spellings: SecretSpelling[] = [];
    for (const [name, value] of values) {
      const field = `secrets.${name}`;
      if (!NAME.test(name)) {
        throw new PerdureError('PERDURE_CONFIGURATION', {
          field,
          reason: 'a name has letters, digits, "_", "." and "-"',
        });
      }
      if (typeof value !== 'string' || value.length < SHORTEST) {
        throw new PerdureError('PERDURE_CONFIGURATION', {
          field,
          reason: `a value is a text of at least ${SHORTEST} characters`,
        });
      }
      if (formatWords().words.some((word) => word.includes(value))) {
        throw new PerdureError('PERDURE_CONFIGURATION', {
          field,
          reason: 'its value is a word, or a part of one, that the format of facts is made of',
        });
      }
      spellings.push(...spellingsOf(value, `secret://${name}`));
    }
    this.values = values;
    this.hasNumbers = [...values.values()].some((value) => IN_NUMBERS.test(value));
    this.spellings = spellings.sort((a, b) => b.text.length - a.text.length);
    this.longest = this.spellings[0]?.text.length ?? 0;
    this.shortest = this.spellings.at(-1)?.text.length ?? Number.POSITIVE_INFINITY;
    this.beginnings = [...new Set(this.spellings.flatMap(({ text }) => beginningsOf(text)))];
  }

  get isEmpty(): boolean {
    return this.spellings.length === 0;
  }

  /** Where values are in a text, in each of their spellings. */
  find(text: string): readonly Replacement[] {
    const found: Replacement[] = [];
    for (const { text: secret, reference, before, after } of this.spellings) {
      for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + secret.length)) {
        const start = at - (before > 0 && isBase64(text, at - 1) ? 1 : 0);
        const end = at + secret.length;
        found.push({
          start,
          end: end + (after > 0 && isBase64(text, end) ? 1 : 0),
          text: reference,
          isReference: true,
        });
      }
    }
    if (found.length === 0 || !text.includes('secret://')) return found;
    // A value that is a part of a name of its own must not be replaced in the reference, over and over.
    const references = Array.from(text.matchAll(REFERENCE), ({ index, 0: whole }) => [index, index + whole.length]);
    return found.filter(
      ({ start, end }) =>
        !references.some(([from = 0, to = 0]) => start >= from && end <= to && end - start < to - from),
    );
  }

  /** Whether a value is in bytes, in one of its spellings. */
  isIn(bytes: Uint8Array): boolean {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return this.spellings.some(({ text }) => buffer.includes(text));
  }

  /** Whether a value may go on behind a segment that ends with a gap; of a long one the tail is enough. */
  continues(tail: string, isWhole: boolean): boolean {
    return this.beginnings.some((beginning) =>
      tail.length < beginning.length ? !isWhole && beginning.endsWith(tail) : tail.endsWith(beginning),
    );
  }

  /** Whether a text ends with the beginning of a value, in one of its spellings. */
  isBegun(tail: string): boolean {
    const last = tail.slice(-1);
    return this.spellings.some(({ text }) => {
      for (let at = text.indexOf(last); at >= 0 && at < text.length - 1; at = text.indexOf(last, at + 1)) {
        const begun = text.slice(0, at + 1);
        if (begun.length > tail.length ? begun.endsWith(tail) : tail.endsWith(begun)) return true;
      }
      return false;
    });
  }

  /**
   * A value with its references replaced by what they stand for. Throws PERDURE_SECRET_UNKNOWN for a name that is not
   * registered.
   *
   * @param user what refers to them, as the error says it
   */
  resolve(value: JsonValue, user: string): JsonValue {
    if (typeof value === 'string') return this.resolveText(value, user);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.resolve(item, user));
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.resolve(member, user)]));
  }

  /** The same for a text. */
  resolveText(text: string, user: string): string {
    if (!text.includes('secret://')) return text;
    return text.replace(REFERENCE, (_, name: string) => {
      const value = this.values.get(name);
      if (value === undefined) throw new PerdureError('PERDURE_SECRET_UNKNOWN', { user, secret: name });
      return value;
    });
  }

  /** The same for the variables of a tool; the error names the variable. */
  resolveVariables(env: Readonly<Record<string, string>>, tool: string): Readonly<Record<string, string>> {
    const user = (name: string): string => `The variable "${name}", which "${tool}" is handed,`;
    return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, this.resolveText(value, user(name))]));
  }

  /** Throws PERDURE_SECRET_UNKNOWN, with the variable, where one refers to a secret that is not registered. */
  checkVariables(env: Readonly<Record<string, string | null>>): void {
    for (const [name, value] of Object.entries(env)) this.resolveText(value ?? '', `The variable "${name}"`);
  }
}

function isBase64(text: string, at: number): boolean {
  return at >= 0 && at < text.length && /[A-Za-z0-9+/_-]/.test(text.charAt(at));
}

function beginningsOf(text: string): readonly string[] {
  const beginnings: string[] = [];
  for (let at = 0; at < text.length - 1; at++) if (isGap(text.charCodeAt(at))) beginnings.push(text.slice(0, at + 1));
  return beginnings;
}

/**
 * Whether a text may be parted behind a character: white space, or one beyond ASCII. Pairs of surrogates stay together.
 */
export function isGap(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || (code >= 128 && (code < 0xd800 || code > 0xdbff));
}
