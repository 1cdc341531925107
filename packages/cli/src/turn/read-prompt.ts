import type { Readable } from 'node:stream';
import { PerdureError } from '@perdure/plugin-api';

/** The prompt of the command line; `-` stands for everything on standard input. */
export async function readPrompt(prompt: string, input: Readable): Promise<string> {
  let text = prompt;
  if (prompt === '-') {
    text = '';
    for await (const piece of input.setEncoding('utf8')) text += String(piece);
  }
  if (text.trim() !== '') return text;
  throw new PerdureError('PERDURE_INPUT_INVALID', { field: 'prompt', reason: 'it is empty' });
}
