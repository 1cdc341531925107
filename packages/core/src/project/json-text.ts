/**
 * A value in a JSON text, read without parsing what is not asked for: of a large text only the members that are wanted
 * and the beginnings of strings come into being. The text is JSON; one that is not gives `undefined` or a SyntaxError.
 */
export class JsonText {
  constructor(
    private readonly text: string,
    /** Where the value begins. */
    private readonly start = 0,
  ) {}

  /** A member of an object; `undefined` when there is none, or no object. */
  member(name: string): JsonText | undefined {
    const key = JSON.stringify(name);
    for (const at of this.entries('{')) {
      const colon = this.text.indexOf(':', endOfString(this.text, at));
      if (this.text.startsWith(key, at)) return new JsonText(this.text, pastSpace(this.text, colon + 1));
    }
    return undefined;
  }

  /** The items of an array; none when it is no array. */
  *items(): Generator<JsonText> {
    for (const at of this.entries('[')) yield new JsonText(this.text, at);
  }

  /** At most so many characters of a string, from its beginning; `undefined` when it is no string. */
  beginning(length: number): string | undefined {
    if (this.text[this.start] !== '"') return undefined;
    let end = this.start + 1;
    for (let count = 0; count < length && end < this.text.length && this.text[end] !== '"'; count++) {
      if (this.text[end] !== '\\') end += 1;
      else end += this.text[end + 1] === 'u' ? 6 : 2;
    }
    return JSON.parse(`${this.text.slice(this.start, end)}"`) as string;
  }

  /** The whole value, parsed. */
  value(): unknown {
    return JSON.parse(this.text.slice(this.start, endOfValue(this.text, this.start)));
  }

  /** Where the keys of an object, or the items of an array, begin. */
  private *entries(open: '{' | '['): Generator<number> {
    const { text } = this;
    if (text[this.start] !== open) return;
    let at = pastSpace(text, this.start + 1);
    while (at < text.length && text[at] !== '}' && text[at] !== ']') {
      yield at;
      const value = open === '[' ? at : pastSpace(text, text.indexOf(':', endOfString(text, at)) + 1);
      at = pastSpace(text, endOfValue(text, value));
      if (text[at] === ',') at = pastSpace(text, at + 1);
    }
  }
}

/** The place behind a value. */
function endOfValue(text: string, start: number): number {
  if (text[start] === '"') return endOfString(text, start);
  if (text[start] !== '{' && text[start] !== '[') return pastScalar(text, start);
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === '{' || character === '[') depth += 1;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return text.length;
}

/** The place behind a string. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
}

function pastScalar(text: string, start: number): number {
  let at = start;
  while (at < text.length && !',}] \t\r\n'.includes(text[at] ?? '')) at += 1;
  return Math.max(at, start + 1);
}

function pastSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && ' \t\r\n'.includes(text[at] ?? '')) at += 1;
  return at;
}
