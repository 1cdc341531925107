import type { JsonText } from './json-text.js';

/** The text of the text parts of a prompt or an answer, as far as it is wanted; files and calls are passed by. */
export function partsText(parts: JsonText | undefined, between: string, length: number): string {
  let text = '';
  for (const part of parts?.items() ?? []) {
    if (text.length >= length) break;
    if (part.member('type')?.beginning(5) !== 'text') continue;
    const more = part.member('text')?.beginning(length - text.length) ?? '';
    text += text === '' ? more : `${between}${more}`;
  }
  return text;
}
