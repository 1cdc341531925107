import type { JsonValue } from '@perdure/events';
import type { Redactor } from '@perdure/plugin-api';
import { SecretRegistry } from './secret-registry.js';
import { StreamRedactor } from './stream-redactor.js';
import { TextRedaction } from './text-redaction.js';

const MARK = /\[redacted:[a-z0-9-]{1,40}\]/g;

const finder: Redactor = {
  id: 'marks',
  maxMatch: 51,
  minMatch: 12,
  find: (text) =>
    Array.from(text.matchAll(MARK), ({ index, 0: { length } }) => ({
      start: index,
      end: index + length,
      kind: 'mark',
    })),
  continues: () => false,
};
const marks = new TextRedaction(new SecretRegistry(), [finder]);

/**
 * Whether a value holds a mark of what was taken out, also one that is encoded. A mark stands for a value that nobody
 * has any more: what is done with it would be done wrongly.
 */
export function holdsMark(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return isMarked(value);
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsMark);
  return Object.entries(value).some(([key, member]) => isMarked(key) || holdsMark(member));
}

function isMarked(text: string): boolean {
  if (text.length < (finder.minMatch ?? 1)) return false;
  const stream = new StreamRedactor(marks);
  stream.push(text);
  stream.end();
  return stream.hasChanged;
}
