import { keyText } from '@perdure/events';
import { partsText } from './parts-text.js';
import type { ProjectedFact, Projection } from './projection.js';

/** Characters of one prompt or answer that can be found. */
const FOUND = 4_096;

/**
 * The beginnings of all prompts and answers, one row each, for searches. Nothing else reads it or brings it up to date.
 */
export const sessionText: Projection<string> = {
  name: 'session-text',
  version: 1,
  types: ['PromptAccepted', 'ModelAnswered', 'AnswerInterrupted'],
  keys: (fact) => [`${keyText(fact.key)}/${String(fact.revision).padStart(12, '0')}`],
  evolve: (_, fact) => textOf(fact) || undefined,
};

/** The key of the session that a row is of. */
export function sessionOfText(rowKey: string): string {
  return rowKey.slice(0, rowKey.lastIndexOf('/'));
}

function textOf(fact: ProjectedFact): string {
  if (fact.type === 'ModelAnswered' && fact.json.member('purpose')?.value() !== 'step') return '';
  return partsText(fact.json.member('parts'), fact.type === 'PromptAccepted' ? '\n' : '', FOUND);
}
