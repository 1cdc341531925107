import { answerText, promptText, type UserPart } from '@perdure/events';
import type { Message } from '@perdure/plugin-api';
import type { SessionState } from './session-state.js';

/** Characters of a title that a model makes, at the most, and of the first words of a prompt. */
const LONGEST_MADE_TITLE = 80;
const LONGEST_FIRST_WORDS = 60;
/** Characters of a preview. */
const PREVIEW = 180;
/** Characters of a text that are looked at for either. */
export const LOOKED_AT = 1_024;

export interface Title {
  readonly title: string;
  /** `prompt` when it is the first words of the first prompt. */
  readonly by: 'host' | 'model' | 'prompt';
}

/** What a session is called: as its host said, as a model said, else by its first words; nothing before those. */
export function titleOf({ naming, messages }: Pick<SessionState, 'naming' | 'messages'>): Title | undefined {
  if (naming.title !== undefined) return { title: naming.title, by: naming.by ?? 'host' };
  for (const message of messages) {
    const words = message.role === 'user' ? firstWords(promptText(message.parts)) : '';
    if (words !== '') return { title: words, by: 'prompt' };
  }
  return undefined;
}

/** The first words of a prompt, on one line. */
export function firstWords(text: string): string {
  const line = onOneLine(text);
  if (line.length <= LONGEST_FIRST_WORDS) return line;
  const start = cut(line, LONGEST_FIRST_WORDS - 1);
  const end = start.lastIndexOf(' ');
  return `${end > LONGEST_FIRST_WORDS / 2 ? start.slice(0, end) : start}…`;
}

/** A model's answer as a title: nothing in it is looked for, it is cut. `undefined` when nothing is left. */
export function titleFromAnswer(text: string): string | undefined {
  const title = cut(onOneLine(text), LONGEST_MADE_TITLE).trim();
  return title === '' ? undefined : title;
}

/** The beginning of a message, on one line. */
export function previewText(text: string): string {
  return cut(onOneLine(text), PREVIEW);
}

/** The beginning of the newest message that has text. */
export function previewOf({ messages }: Pick<SessionState, 'messages'>): string {
  for (let index = messages.length - 1; index >= 0; index--) {
    const preview = previewText(textOf(messages.at(index)));
    if (preview !== '') return preview;
  }
  return '';
}

function textOf(message: Message | undefined): string {
  if (message?.role === 'assistant') return answerText(message.parts);
  return message?.role === 'user' ? promptText(message.parts as readonly UserPart[]) : '';
}

function onOneLine(text: string): string {
  return text.slice(0, LOOKED_AT).replace(/\s+/g, ' ').trim();
}

/** At most so many code units, and no half of a surrogate pair at the end. */
function cut(text: string, length: number): string {
  const start = text.slice(0, length);
  const last = start.charCodeAt(start.length - 1);
  return text.length > length && last >= 0xd800 && last <= 0xdbff ? start.slice(0, -1) : start;
}
