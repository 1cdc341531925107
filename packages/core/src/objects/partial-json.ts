import type { JsonValue } from '@perdure/events';

type Container = JsonValue[] | Record<string, JsonValue>;

interface Frame {
  readonly container: Container;
  /** Where the next value goes: a key, or none yet; the place in a list. */
  key: string | number | undefined;
}

const MARK = /["\\]/g;

/**
 * Reads JSON as it comes. Every character is looked at once, however often somebody asks what there is. What is no JSON
 * ends it: from then on there is what was before. What comes before the first `{` or `[` is passed by.
 */
export class PartialJson {
  private root: Container | undefined;
  private readonly frames: Frame[] = [];
  /** The raw pieces of the string that grows, and whether the next character belongs to an escape. */
  private text: string[] | undefined;
  private isEscaped = false;
  /** The number or word that grows. */
  private word = '';
  private isBroken = false;

  feed(piece: string): void {
    for (let at = 0; at < piece.length && !this.isBroken;)
      at = this.text === undefined ? this.step(piece, at) : this.grow(piece, at);
  }

  /** A copy of what there is; `undefined` before there is any. */
  value(): JsonValue | undefined {
    if (this.root === undefined) return undefined;
    const frame = this.frames.at(-1);
    const isValue = frame !== undefined && this.text !== undefined && frame.key !== undefined;
    // It is put in its place again when it is whole.
    if (isValue && !this.isBroken) put(frame, decoded(withoutCutEscape((this.text ?? []).join(''))) ?? '');
    return structuredClone(this.root);
  }

  private step(piece: string, at: number): number {
    const character = piece[at] as string;
    const frame = this.frames.at(-1);
    if (this.word !== '' && /[\s,\]}]/.test(character)) this.endWord();
    if (frame === undefined) {
      if (this.root === undefined && (character === '{' || character === '[')) this.open(character);
      return at + 1;
    }
    if (/[\s:]/.test(character)) return at + 1;
    switch (character) {
      case '{':
      case '[':
        this.open(character);
        break;
      case '}':
      case ']':
        this.frames.pop();
        this.next();
        break;
      case ',':
        this.next();
        break;
      case '"':
        this.text = [];
        break;
      default:
        this.word += character;
    }
    return at + 1;
  }

  /** Takes the string up to its end, or to the end of the piece. */
  private grow(piece: string, from: number): number {
    let at = this.isEscaped ? from + 1 : from;
    this.isEscaped = false;
    for (;;) {
      MARK.lastIndex = at;
      const mark = MARK.exec(piece);
      if (mark?.[0] === '\\') {
        at = mark.index + 2;
        this.isEscaped = at > piece.length;
        continue;
      }
      const end = mark?.index ?? piece.length;
      this.text?.push(piece.slice(from, end));
      if (mark === null) return end;
      this.endText();
      return end + 1;
    }
  }

  private endText(): void {
    const frame = this.frames.at(-1);
    const text = decoded((this.text ?? []).join(''));
    this.text = undefined;
    if (frame === undefined || text === undefined) this.isBroken = true;
    else if (frame.key === undefined) frame.key = text;
    else put(frame, text);
  }

  private endWord(): void {
    const frame = this.frames.at(-1);
    const value = parsed(this.word);
    this.word = '';
    if (frame?.key === undefined || value === undefined) this.isBroken = true;
    else put(frame, value);
  }

  private open(character: '{' | '['): void {
    const container: Container = character === '{' ? {} : [];
    const frame = this.frames.at(-1);
    if (frame === undefined) this.root = container;
    else if (frame.key === undefined) this.isBroken = true;
    else put(frame, container);
    this.frames.push({ container, key: character === '{' ? undefined : 0 });
  }

  /** A value is over: another key comes, or the next place. */
  private next(): void {
    const frame = this.frames.at(-1);
    if (frame === undefined) return;
    frame.key = Array.isArray(frame.container) ? frame.container.length : undefined;
  }
}

function put({ container, key }: Frame, value: JsonValue): void {
  if (Array.isArray(container)) container[Number(key)] = value;
  // A name such as `__proto__` is a member like any other.
  else Object.defineProperty(container, String(key), { value, enumerable: true, configurable: true, writable: true });
}

/** An escape whose end has not come is left out. */
function withoutCutEscape(raw: string): string {
  const cut = /(?:^|[^\\])(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$/.exec(raw.slice(-64));
  return cut?.[1] === undefined ? raw : raw.slice(0, -cut[1].length);
}

function decoded(raw: string): string | undefined {
  const text = parsed(`"${raw}"`);
  return typeof text === 'string' ? text : undefined;
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // It is no JSON: whoever asked says what that means.
    return undefined;
  }
}
