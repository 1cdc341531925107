import { literalPattern } from './pattern.js';
import { isServerName } from './rule.js';

/** A rule that is longer than this is nothing to show to a person. */
const LONGEST_SUGGESTION = 500;

/**
 * The narrowest rule that allows calls of a tool with these subjects; `undefined` when no rule can name the tool or
 * the rule would be too long to show. One subject is named itself, several by the folder that they share.
 */
export function suggestRule(tool: string, subjects: readonly string[]): string | undefined {
  if (!/^[^\s()\\*?\u0000-\u001f\u007f]+$/.test(tool) || isServerName(tool)) return undefined;
  const [first = '', ...others] = new Set(subjects);
  const pattern = others.length === 0 ? literalPattern(first) : folderPattern([first, ...others]);
  const rule = pattern === '' ? tool : `${tool}(${pattern})`;
  return rule.length > LONGEST_SUGGESTION ? undefined : rule;
}

function folderPattern(subjects: readonly string[]): string {
  const [first = [], ...others] = subjects.map((subject) => subject.split('/').slice(0, -1));
  const shared = first.findIndex((segment, index) => others.some((folders) => folders[index] !== segment));
  const folder = shared === -1 ? first : first.slice(0, shared);
  return folder.length === 0 ? '' : `${literalPattern(folder.join('/'))}/**`;
}
