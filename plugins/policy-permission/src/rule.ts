import { PerdureError } from '@perdure/plugin-api';
import { compilePattern, type Matcher } from './match-pattern.js';
import { formatPattern, parsePattern, type Piece } from './pattern.js';

/** Which calls a rule is about. */
export interface PermissionRule {
  /** As it is written in the configuration. */
  readonly text: string;
  /** Name of a tool in lower case, with `*` for any characters and `?` for one. */
  readonly tool: string;
  /** What is between the parentheses; absent for a rule about every call of the tool. */
  readonly pattern?: readonly Piece[];
}

const TOOL = /^[^\s()\\\u0000-\u001f\u007f]+$/;
const SERVER = /^mcp__(?:(?!__)[^*?])+$/;

/**
 * Reads a rule, `tool` or `tool(pattern)`.
 *
 * @param field where the rule stands, for the error
 * @throws PerdureError `PERDURE_CONFIGURATION`
 */
export function parseRule(text: string, field = 'rule'): PermissionRule {
  const refuse = (reason: string): PerdureError => new PerdureError('PERDURE_CONFIGURATION', { field, reason });
  if (typeof text !== 'string') throw refuse('a rule must be a text');
  const rule = text.trim();
  const open = rule.indexOf('(');
  const tool = lowerCase(open === -1 ? rule : rule.slice(0, open)).replace(/\*+/g, '*');
  if (tool === '') throw refuse('the name of the tool is missing');
  if (!TOOL.test(tool)) throw refuse('the name of the tool holds a sign that no name can have');
  if (open === -1) return { text: rule, tool };
  if (!rule.endsWith(')')) throw refuse('the parenthesis is not closed at the end');
  const inner = rule.slice(open + 1, -1);
  if (inner === '') throw refuse('the parentheses are empty; the name alone stands for every call');
  try {
    return { text: rule, tool, pattern: parsePattern(inner) };
  } catch (error) {
    if (error instanceof SyntaxError) throw refuse(error.message);
    throw error;
  }
}

/** The rule in its normal form: equal for rules that are written differently and mean the same. */
export function formatRule(rule: PermissionRule): string {
  return rule.pattern === undefined ? rule.tool : `${rule.tool}(${formatPattern(rule.pattern)})`;
}

/** Whether a name stands for all tools of an MCP server: `mcp__server`. */
export function isServerName(tool: string): boolean {
  return SERVER.test(lowerCase(tool));
}

/** Letters outside ASCII keep their case: some have a small form that is a letter of ASCII. */
export function lowerCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

export interface CompiledRule {
  readonly text: string;
  /** Whether it is about a tool, by its name in lower case. */
  readonly isAbout: Matcher;
  /** Whether it is about a subject. */
  readonly matches: Matcher;
}

export function compileRule(rule: PermissionRule): CompiledRule {
  const name = compilePattern(namePieces(rule.tool));
  const prefix = isServerName(rule.tool) ? `${rule.tool}__` : undefined;
  return {
    text: rule.text,
    isAbout: (tool) => (prefix !== undefined && tool.startsWith(prefix)) || name(tool),
    matches: rule.pattern === undefined ? () => true : compilePattern(rule.pattern),
  };
}

function namePieces(tool: string): readonly Piece[] {
  return [...tool].map((character) => {
    if (character === '*') return { kind: 'any' };
    return character === '?' ? { kind: 'one' } : { kind: 'text', character };
  });
}
