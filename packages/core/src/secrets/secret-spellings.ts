/** How a registered value turns up in texts. What is encoded otherwise is found by decoding; see `TextScanner`. */
export interface SecretSpelling {
  readonly text: string;
  readonly reference: string;
  /** Characters beside the text that hold a part of the value too: those of base64 that it shares with a neighbour. */
  readonly before: number;
  readonly after: number;
}

export function spellingsOf(value: string, reference: string): readonly SecretSpelling[] {
  const escaped = JSON.stringify(value).slice(1, -1);
  const bytes = Buffer.from(value, 'utf8');
  const whole = new Set([value, escaped, escaped.replaceAll('/', '\\/'), bytes.toString('latin1'), html(value)]);
  const hex = bytes.toString('hex');
  whole.add(hex).add(hex.toUpperCase());
  // Half a surrogate pair has no place in a URL.
  if (!/\p{Surrogate}/u.test(value)) {
    const inForm = new URLSearchParams([['', value]]).toString().slice(1);
    whole.add(encodeURIComponent(value)).add(encodeURI(value)).add(inForm);
  }
  const texts = Array.from(whole, (text) => ({ text, reference, before: 0, after: 0 }));
  return [...texts, ...base64Spellings(bytes, reference), ...wideSpellings(value, reference)];
}

/** In two bytes for each character, as some systems write texts. */
function wideSpellings(value: string, reference: string): readonly SecretSpelling[] {
  const bytes = Buffer.from(value, 'utf16le');
  const text = { text: bytes.toString('latin1'), reference, before: 0, after: 0 };
  return [text, ...base64Spellings(bytes, reference)];
}

function html(value: string): string {
  const named: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return value.replace(/[&<>"']/g, (character) => named[character] ?? character);
}

/** A value that stands 0, 1 or 2 bytes behind the beginning of a group of base64, without the characters it shares. */
function base64Spellings(bytes: Buffer, reference: string): readonly SecretSpelling[] {
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const before = shift === 0 ? 0 : 1;
    const after = (shift + bytes.length) % 3 === 0 ? 0 : 1;
    const text = encoded.slice(shift === 0 ? 0 : shift + 1, encoded.length - after);
    const urlSafe = text.replaceAll('+', '-').replaceAll('/', '_');
    return Array.from(new Set([text, urlSafe]), (each) => ({ text: each, reference, before, after }));
  });
}
