import { isTextType } from '@perdure/plugin-api';
import type { ModelArtifact, ModelMessage } from '../invoke/language-model.js';

/** Characters of one token, as a rule of thumb for text in Latin script. */
const CHARACTERS_PER_TOKEN = 4;
/** What a message or a part costs beside its text. */
const FRAME = 16;
/** About what providers count for an image, or for a page. */
const SHOWN_FILE = 6_000;
/** As much as is shown of a text when nothing else is said. */
const SHOWN_TEXT = 65_536;

export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** About how many characters of a request a message is. Files other than images count as they are sent. */
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
        size += part.mediaType.startsWith('image/') ? SHOWN_FILE : String(part.data).length;
        break;
      case 'artifact':
        size += sizeOfArtifact(part);
        break;
      case 'tool-call':
        size += part.toolName.length + JSON.stringify(part.input).length;
        break;
      case 'tool-result': {
        const { value } = part.output;
        size += typeof value === 'string' ? value.length : JSON.stringify(value).length;
        for (const file of part.files ?? []) size += sizeOfArtifact(file);
      }
    }
  }
  return size;
}

function sizeOfArtifact({ artifact }: ModelArtifact): number {
  if (artifact === undefined) return FRAME;
  return isTextType(artifact.mediaType) ? Math.min(artifact.bytes, SHOWN_TEXT) : SHOWN_FILE;
}
