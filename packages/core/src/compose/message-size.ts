import type { ModelMessage } from '../invoke/language-model.js';

/** Characters of one token, as a rule of thumb for text in Latin script. */
const CHARACTERS_PER_TOKEN = 4;
/** What a message or a part costs beside its text. */
const FRAME = 16;

export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** About how many characters of a request a message is. Files count as they are sent, in their text form. */
export function sizeOfMessage({ content }: ModelMessage): number {
  if (typeof content === 'string') return FRAME + content.length;
  let size = FRAME;
  for (const part of content) {
    size += FRAME;
    switch (part.type) {
      case 'text':
      case 'reasoning':
        size += part.text.length;
        break;
      case 'file':
        size += String(part.data).length;
        break;
      case 'tool-call':
        size += part.toolName.length + JSON.stringify(part.input).length;
        break;
      case 'tool-result': {
        const { value } = part.output;
        size += typeof value === 'string' ? value.length : JSON.stringify(value).length;
      }
    }
  }
  return size;
}
