import { formatWords } from '@perdure/events';
import type { Redactor } from '@perdure/plugin-api';
import { applied, merged } from './replacement.js';
import type { SecretRegistry } from './secret-registry.js';
import { StreamRedactor } from './stream-redactor.js';
import { TextRedaction } from './text-redaction.js';
import { markOf } from './text-scanner.js';

/** The members of facts that hold opaque provider data: changing them would make a signature invalid. */
const EXEMPT_FROM_DETECTORS = 'providerMetadata';
/** Characters of a whole text that are looked at together. */
const TOGETHER = 2_048;
/** A reference, or what was taken out already. */
const STANDS_FOR_ANOTHER = /secret:\/\/|\[redacted:/;
/** Fewer digits are no number that anyone would hide. */
const LEAST_HIDDEN_NUMBER = 1e13;
/** Members that name a value, in lists of names and values. */
const NAME_MEMBERS = ['name', 'key', 'Name', 'Key'];
const VALUE_MEMBERS: ReadonlySet<string> = new Set(['value', 'Value']);

/**
 * Takes out what must not be kept or shown: registered secrets first, and what redactors find. It replaces in every
 * text of a value, keys included; a value without a match is returned as it is.
 */
export class Redaction {
  /** What streams are redacted by. */
  readonly texts: TextRedaction;
  private readonly secretsAlone: TextRedaction;

  constructor(
    private readonly secrets: SecretRegistry,
    private readonly redactors: readonly Redactor[] = [],
  ) {
    this.texts = new TextRedaction(secrets, redactors);
    this.secretsAlone = new TextRedaction(secrets, []);
  }

  get isEmpty(): boolean {
    return this.texts.isEmpty;
  }

  redactText(text: string): string {
    return redacted(text, this.texts);
  }

  redact<Value>(value: Value): Value {
    return this.isEmpty ? value : (this.redactValue(value, this.texts, true) as Value);
  }

  /** A fact's payload, or what is made like one: numbers that are of its form itself hide nothing and stay. */
  redactFact<Value>(value: Value): Value {
    return this.isEmpty ? value : (this.redactValue(value, this.texts, false) as Value);
  }

  /** Bytes that hold text are redacted like it, without a change to what is beside; others of registered secrets. */
  redactBytes(bytes: Uint8Array): Uint8Array {
    if (this.isEmpty) return bytes;
    const isText = !bytes.includes(0);
    // A large image must not become a text only to be looked through.
    if (!isText && !this.secrets.isIn(bytes)) return bytes;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const shown = redacted(text, isText ? this.texts : this.secretsAlone);
    return shown === text ? bytes : Buffer.from(shown, 'latin1');
  }

  private redactValue(value: unknown, texts: TextRedaction, isFree: boolean): unknown {
    if (typeof value === 'string') return redacted(value, texts);
    if (typeof value === 'number') return this.redactNumber(value, texts, isFree);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const bytes = isFree && value.length >= this.texts.shortest ? bytesOf(value) : undefined;
      if (bytes !== undefined) {
        const shown = this.redactBytes(bytes);
        if (shown !== bytes) return [...shown];
      }
      const items = value.map((item) => this.redactValue(item, texts, isFree));
      return items.some((item, index) => item !== value[index]) ? items : value;
    }
    let changed = false;
    let renamed = false;
    const given = value as Readonly<Record<string, unknown>>;
    const entries = Object.entries(given).map(([key, member]) => {
      const cleanKey = redacted(key, texts);
      const isExempt = texts === this.secretsAlone || key === EXEMPT_FROM_DETECTORS;
      const holdsAny = isFree || formatWords().openMembers.has(key);
      const found = this.redactValue(member, isExempt ? this.secretsAlone : texts, holdsAny);
      const clean = isExempt || typeof found !== 'string' ? found : this.redactNamed(nameOf(given, key), found);
      renamed ||= cleanKey !== key;
      changed ||= clean !== member;
      return [cleanKey, clean] as const;
    });
    if (renamed) return Object.fromEntries(withOwnNames(entries));
    return changed ? Object.fromEntries(entries) : value;
  }

  /** A number that would not be shown as a text is shown as the mark of one. */
  private redactNumber(value: number, texts: TextRedaction, isFree: boolean): number | string {
    const text = String(value);
    if (isFree && this.secrets.hasNumbers) {
      const shown = applied(text, merged(this.secrets.find(text)));
      if (shown !== text) return shown;
    }
    if (!Number.isSafeInteger(value) || Math.abs(value) < LEAST_HIDDEN_NUMBER) return value;
    const digits = String(Math.abs(value));
    const shown = redacted(digits, texts);
    return shown === digits ? value : `${value < 0 ? '-' : ''}${shown}`;
  }

  private redactNamed(name: string, value: string): string {
    if (value.length < this.texts.shortest || STANDS_FOR_ANOTHER.test(value)) return value;
    for (const redactor of this.redactors) {
      const found = findNamed(redactor, name, value);
      if (found !== undefined) return markOf(found.kind);
    }
    return value;
  }
}

/** A list that holds nothing but bytes, as JSON has buffers. */
function bytesOf(items: readonly unknown[]): Uint8Array | undefined {
  // The first of them tells nearly all other lists.
  return isByte(items[0]) && items.every(isByte) ? Uint8Array.from(items) : undefined;
}

function isByte(item: unknown): item is number {
  return typeof item === 'number' && Number.isInteger(item) && item >= 0 && item < 256;
}

function findNamed(redactor: Redactor, name: string, value: string): { readonly kind: string } | undefined {
  try {
    return redactor.findNamed?.(name, value);
  } catch {
    return { kind: 'undecided' };
  }
}

/** Lists of names and values say in another member what a value is called. */
function nameOf(given: Readonly<Record<string, unknown>>, key: string): string {
  if (!VALUE_MEMBERS.has(key)) return key;
  for (const member of NAME_MEMBERS) {
    const name = given[member];
    if (typeof name === 'string') return name;
  }
  return key;
}

function redacted(text: string, texts: TextRedaction): string {
  if (texts.isEmpty || text.length < texts.shortest) return text;
  const stream = new StreamRedactor(texts, TOGETHER);
  const shown = stream.push(text) + stream.end();
  return stream.hasChanged ? shown : text;
}

/** Members whose names have become the same are told apart by a number, so that none is lost. */
function withOwnNames(entries: readonly (readonly [string, unknown])[]): readonly (readonly [string, unknown])[] {
  const taken = new Set<string>();
  return entries.map(([name, member]) => {
    let own = name;
    for (let count = 2; taken.has(own); count++) own = `${name}#${count}`;
    taken.add(own);
    return [own, member] as const;
  });
}
