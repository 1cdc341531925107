import { createHash } from 'node:crypto';
import {
  PerdureError,
  type PermissionDecision,
  type PermissionPolicy,
  type ToolCallRequest,
} from '@perdure/plugin-api';
import { compileRule, formatRule, lowerCase, parseRule, type CompiledRule } from './rule.js';
import { suggestRule } from './suggest-rule.js';

/** Lists of rules, each `tool` or `tool(pattern)`. A list that is absent is empty. */
export interface PermissionRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
  /** For calls that no rule is about; `ask` when absent. */
  readonly default?: Decision;
}

type Decision = PermissionDecision['decision'];
type List = 'allow' | 'deny' | 'ask';

/**
 * A policy that decides by rules: deny, then ask, then allow, then the default. Of the several subjects of a call, one
 * that is denied denies the call, and all must be allowed for it to be allowed.
 *
 * @throws PerdureError `PERDURE_CONFIGURATION`, with the place of a bad rule as `field`, such as `allow[2]`
 */
export function createPermissionPolicy(rules: PermissionRules): PermissionPolicy {
  const fallback = checkedDefault(rules.default ?? 'ask');
  const lists = { allow: readList(rules, 'allow'), deny: readList(rules, 'deny'), ask: readList(rules, 'ask') };
  return {
    id: 'policy-permission',
    digest: digestOf(lists, fallback),
    rules: normalRules(lists, fallback),
    decide: (call) => decide(call, lists, fallback),
    ofRules: (other) => createPermissionPolicy(readRules(other)),
  };
}

/** Rules as data, from a fact or a configuration. Throws PERDURE_CONFIGURATION. */
function readRules(rules: unknown): PermissionRules {
  const known = new Set(['allow', 'deny', 'ask', 'default']);
  if (typeof rules !== 'object' || rules === null || Array.isArray(rules)) {
    throw new PerdureError('PERDURE_CONFIGURATION', { field: 'rules', reason: 'they are an object' });
  }
  const unknown = Object.keys(rules).find((name) => !known.has(name));
  if (unknown === undefined) return rules;
  throw new PerdureError('PERDURE_CONFIGURATION', { field: unknown, reason: 'there is no such list' });
}

interface RuleList {
  readonly compiled: readonly CompiledRule[];
  /** The rules in their normal form, each once, in an order of their own. */
  readonly normal: readonly string[];
}

function readList(rules: PermissionRules, list: List): RuleList {
  const texts: unknown = rules[list] ?? [];
  if (!Array.isArray(texts)) throw new PerdureError('PERDURE_CONFIGURATION', { field: list, reason: 'it is no list' });
  const parsed = texts.map((text: string, index) => parseRule(text, `${list}[${index}]`));
  return { compiled: parsed.map(compileRule), normal: [...new Set(parsed.map(formatRule))].toSorted(compareText) };
}

function checkedDefault(decision: Decision): Decision {
  if (['allow', 'deny', 'ask'].includes(decision)) return decision;
  throw new PerdureError('PERDURE_CONFIGURATION', { field: 'default', reason: 'it must be allow, deny or ask' });
}

function digestOf(lists: Readonly<Record<List, RuleList>>, fallback: Decision): string {
  const rules = { version: 1, ...normalRules(lists, fallback) };
  return `sha256:${createHash('sha256').update(JSON.stringify(rules)).digest('hex')}`;
}

/** Rules that decide the same have the same normal form. */
function normalRules({ deny, ask, allow }: Readonly<Record<List, RuleList>>, fallback: Decision) {
  return { deny: [...deny.normal], ask: [...ask.normal], allow: [...allow.normal], default: fallback };
}

function compareText(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

function decide(
  call: ToolCallRequest,
  lists: Readonly<Record<List, RuleList>>,
  fallback: Decision,
): PermissionDecision {
  const tool = lowerCase(call.tool);
  // A call that names nothing is like one that names the empty text.
  const subjects = call.subjects.length === 0 ? [''] : call.subjects;
  const denied = ruleForAny(lists.deny, tool, subjects);
  if (denied !== undefined) return { decision: 'deny', rule: denied.text, reason: 'a rule denies it' };
  const asked = ruleForAny(lists.ask, tool, subjects);
  if (asked !== undefined) return { decision: 'ask', rule: asked.text, reason: 'a rule leaves it to a person' };
  const allowing = lists.allow.compiled.filter((rule) => rule.isAbout(tool) === true);
  const allowed = subjects.map((subject) => allowing.find((rule) => rule.matches(subject) === true));
  const open = subjects.filter((_, index) => allowed[index] === undefined);
  const [rule] = allowed;
  if (open.length === 0 && rule !== undefined) return { decision: 'allow', rule: rule.text };
  const suggestion = fallback === 'allow' ? undefined : suggestRule(call.tool, open);
  const reason = fallback === 'allow' ? 'no rule is against it' : 'no rule allows it';
  return { decision: fallback, reason, ...(suggestion === undefined ? {} : { suggestion }) };
}

/** The first rule for any of the subjects. What is too long to tell counts: these rules are there to hold calls up. */
function ruleForAny(rules: RuleList, tool: string, subjects: readonly string[]): CompiledRule | undefined {
  return rules.compiled.find(
    (rule) => rule.isAbout(tool) !== false && subjects.some((subject) => rule.matches(subject) !== false),
  );
}
