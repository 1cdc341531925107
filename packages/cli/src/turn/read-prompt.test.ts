import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { isPerdureError } from '@perdure/plugin-api';
import { readPrompt } from './read-prompt.js';

test('a prompt is the word itself, or all of standard input', async () => {
  expect(await readPrompt('do it', Readable.from([]))).toBe('do it');
  const euro = Buffer.from('two\n€ ');
  expect(await readPrompt('-', Readable.from([euro.subarray(0, 5), euro.subarray(5)], { objectMode: false }))).toBe(
    'two\n€ ',
  );
});

test('an empty one is refused', async () => {
  for (const prompt of ['', ' \n', '-']) {
    await expect(readPrompt(prompt, Readable.from([]))).rejects.toSatisfy(
      (error) => isPerdureError(error, 'PERDURE_INPUT_INVALID') && error.data['field'] === 'prompt',
    );
  }
});
