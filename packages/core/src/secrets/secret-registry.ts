import { PerdureError } from '@perdure/plugin-api';
import type { JsonValue } from '@perdure/events';
import type { TextRedaction } from './stream-redactor.js';

/** How a value turns up in texts: as it is, inside JSON in two ways, and inside a URL in three. */
function spellingsOf(value: string): ReadonlySet<string> {
  const escaped = JSON.stringify(value).slice(1, -1);
  const spellings = new Set([value, escaped, escaped.replaceAll('/', '\\/')]);
  // Half a surrogate pair has no place in a URL.
  if (/\p{Surrogate}/u.test(value)) return spellings;
  const inForm = new URLSearchParams([['', value]]).toString().slice(1);
  return spellings.add(encodeURIComponent(value)).add(encodeURI(value)).add(inForm);
}

const REFERENCE = /secret:\/\/([A-Za-z0-9_.-]+)/g;
const NAME = /^[A-Za-z0-9_.-]+$/;
/** A shorter value would turn up by chance and would not be worth hiding. */
const SHORTEST = 6;

/**
 * Values that the host registered under names. Everywhere but inside the tool invoker they are references,
 * `secret://<name>`: what models, facts, streams and logs see.
 */
export class SecretRegistry implements TextRedaction {
  /** Every spelling of every value, longest first, with the reference that replaces it. */
  private readonly spellings: readonly { readonly text: string; readonly reference: string }[];
  private readonly values: ReadonlyMap<string, string>;

  /** Throws PERDURE_CONFIGURATION naming the secret when a name or value cannot be used. The error holds no value. */
  constructor(secrets: Readonly<Record<string, string>> = {}) {
    const values = new Map(Object.entries(secrets));
    const spellings: { text: string; reference: string }[] = [];
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
      const reference = `secret://${name}`;
      for (const text of spellingsOf(value)) spellings.push({ text, reference });
    }
    this.values = values;
    this.spellings = spellings.sort((a, b) => b.text.length - a.text.length);
  }

  get isEmpty(): boolean {
    return this.spellings.length === 0;
  }

  redactText(text: string): string {
    let result = text;
    for (const { text: secret, reference } of this.spellings) {
      if (result.includes(secret)) result = result.replaceAll(secret, reference);
    }
    return result;
  }

  holdBack(text: string): number {
    let hold = 0;
    for (const { text: secret } of this.spellings) {
      const most = Math.min(secret.length - 1, text.length);
      for (let length = most; length > hold; length--)
        if (secret.startsWith(text.slice(text.length - length))) hold = length;
    }
    return hold;
  }

  /**
   * A value with its references replaced by what they stand for. Throws PERDURE_SECRET_UNKNOWN for a name that is not
   * registered.
   */
  resolve(value: JsonValue, tool: string): JsonValue {
    if (typeof value === 'string') return this.resolveText(value, tool);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.resolve(item, tool));
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.resolve(member, tool)]));
  }

  /** The same for a text. */
  resolveText(text: string, tool: string): string {
    if (!text.includes('secret://')) return text;
    return text.replace(REFERENCE, (_, name: string) => {
      const value = this.values.get(name);
      if (value === undefined) throw new PerdureError('PERDURE_SECRET_UNKNOWN', { tool, secret: name });
      return value;
    });
  }
}
