import type { Tool, Tools } from '@perdure/plugin-api';
import { isPerdureError } from '@perdure/plugin-api';
import { expect, test } from 'vitest';
import { bindTools } from './tool-set.js';

const question = { kind: 'text', id: 'why', prompt: 'Why?' } as const;
const questions: NonNullable<Tool['questions']> = () => ({ questions: [question] });
const bind = (members: object) => bindTools([{ odd: { inputSchema: {}, ...members } } as Tools]).tools.get('odd');

test.each<[string, object]>([
  ['both an effect and questions', { execute: () => 1, questions }],
  ['neither', {}],
  ['an effect that is no function', { execute: 'ls' }],
  ['questions that are no function', { questions: [question] }],
])('a tool with %s is refused by name', (_, members) => {
  let thrown: unknown;
  try {
    bind(members);
  } catch (error) {
    thrown = error;
  }
  expect(isPerdureError(thrown, 'PERDURE_CONFIGURATION') && thrown.data['field']).toBe('tools.odd');
});

test('a tool that asks people reads, and one with an effect has it once, unless they say otherwise', () => {
  expect(bind({ questions })?.effect).toBe('read');
  expect(bind({ execute: () => 1 })?.effect).toBe('once');
  expect(bind({ questions, effect: 'once' })?.effect).toBe('once');
});
