import fc from 'fast-check';
import { isPerdureError, type ToolCallRequest } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { createPermissionPolicy, type PermissionRules } from './permission-policy.js';
import { formatRule, parseRule } from './rule.js';

function request(tool: string, subjects: readonly string[]): ToolCallRequest {
  return {
    callId: 'call-1',
    tool,
    input: {},
    effect: 'once',
    origin: 'model',
    sessionId: 'session-1',
    turnId: 'turn-1',
    workspace: '/work',
    subjects,
  };
}

const decide = (rules: PermissionRules, tool: string, ...subjects: readonly string[]) =>
  createPermissionPolicy(rules).decide(request(tool, subjects));

function fieldOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return isPerdureError(error, 'PERDURE_CONFIGURATION') ? error.data['field'] : error;
  }
  return 'no error';
}

describe('the order', () => {
  const rules = { deny: ['write(.env)'], ask: ['write(src/**)'], allow: ['write'], default: 'deny' } as const;

  test('is deny, then ask, then allow, then the default', () => {
    expect(decide(rules, 'write', '.env')).toMatchObject({ decision: 'deny', rule: 'write(.env)' });
    expect(decide(rules, 'write', 'src/a')).toMatchObject({ decision: 'ask', rule: 'write(src/**)' });
    expect(decide(rules, 'write', 'a')).toEqual({ decision: 'allow', rule: 'write' });
    expect(decide(rules, 'bash', 'ls')).toMatchObject({ decision: 'deny', suggestion: 'bash(ls)' });
    expect(decide({}, 'bash', 'ls')).toMatchObject({ decision: 'ask' });
    expect(decide({ default: 'allow' }, 'bash', 'ls')).toEqual({ decision: 'allow', reason: 'no rule is against it' });
  });

  test('goes by all subjects: one that is denied denies, and all must be allowed', () => {
    expect(decide(rules, 'write', 'a', '.env')).toMatchObject({ decision: 'deny' });
    expect(decide(rules, 'write', 'a', 'src/b')).toMatchObject({ decision: 'ask' });
    const some = { allow: ['write(a)', 'write(b)'] };
    expect(decide(some, 'write', 'a', 'b')).toEqual({ decision: 'allow', rule: 'write(a)' });
    expect(decide(some, 'write', 'a', 'c')).toMatchObject({ decision: 'ask', suggestion: 'write(c)' });
  });

  test('treats a call that names nothing like one that names the empty text', () => {
    expect(decide({ allow: ['now'] }, 'now')).toMatchObject({ decision: 'allow' });
    expect(decide({ allow: ['now(x)'] }, 'now')).toMatchObject({ decision: 'ask', suggestion: 'now' });
    expect(decide({ allow: ['now'], deny: ['now(**)'] }, 'now')).toMatchObject({ decision: 'deny' });
  });

  test('lets rules that hold calls up count when a subject is too long to tell, and rules that allow not', () => {
    const long = 'a'.repeat(200_000);
    expect(decide({ allow: ['bash(*a)'] }, 'bash', long)).toMatchObject({ decision: 'ask' });
    expect(decide({ allow: ['bash'], deny: ['bash(*b)'] }, 'bash', long)).toMatchObject({ decision: 'deny' });
    expect(decide({ allow: ['bash'], ask: ['bash(*b)'] }, 'bash', long)).toMatchObject({ decision: 'ask' });
    expect(decide({ allow: ['bash'], deny: ['bash(b:*)'] }, 'bash', long)).toMatchObject({ decision: 'allow' });
  });
});

describe('the name of a tool', () => {
  test.each([
    ['read', 'READ', true],
    ['Read', 'read', true],
    ['read', 'reader', false],
    ['r?ad', 'read', true],
    ['*', 'anything', true],
    ['mcp__*', 'mcp__git__log', true],
    ['mcp__git__*', 'mcp__git__log', true],
    ['mcp__git__*', 'mcp__github__log', false],
    ['mcp__git', 'mcp__git__log', true],
    ['MCP__Git', 'mcp__git__log', true],
    ['mcp__git', 'mcp__github__log', false],
    ['mcp__git', 'mcp__git', true],
    ['mcp__git__log', 'mcp__git__log__all', false],
    ['mcp__g?t', 'mcp__git__log', false],
    ['git', 'git__log', false],
    ['k', '\u212a', false],
  ])('%s is about %s: %s', (rule, tool, expected) => {
    expect(decide({ allow: [rule] }, tool, 'x').decision).toBe(expected ? 'allow' : 'ask');
  });

  test('goes together with a pattern', () => {
    const rules = { allow: ['mcp__git(*"branch":"main"*)'] };
    expect(decide(rules, 'mcp__git__push', '{"branch":"main"}').decision).toBe('allow');
    expect(decide(rules, 'mcp__git__push', '{"branch":"dev"}').decision).toBe('ask');
  });
});

describe('a bad rule', () => {
  test.each([
    '',
    '  ',
    '(a)',
    'read(',
    'read(a',
    'read(a) x',
    'read()',
    'a b',
    'read)',
    're\\ad',
    'read(a\\)',
    'read(\\a)',
  ])('%j is refused with its place', (rule) => {
    expect(fieldOf(() => createPermissionPolicy({ allow: ['read', 'list', rule] }))).toBe('allow[2]');
    expect(fieldOf(() => createPermissionPolicy({ deny: [rule] }))).toBe('deny[0]');
    expect(fieldOf(() => parseRule(rule))).toBe('rule');
  });

  test('or list or default is refused by name', () => {
    expect(fieldOf(() => createPermissionPolicy({ ask: [5 as unknown as string] }))).toBe('ask[0]');
    expect(fieldOf(() => createPermissionPolicy({ ask: 'read' as unknown as string[] }))).toBe('ask');
    expect(fieldOf(() => createPermissionPolicy({ default: 'yes' as 'ask' }))).toBe('default');
  });
});

describe('the digest', () => {
  const digest = (rules: PermissionRules): string => createPermissionPolicy(rules).digest;

  test('is equal for equal rules, in any order and spelling', () => {
    const one = digest({ allow: ['Read', 'write(src/**)', 'bash(ls:*)'], deny: ['bash'] });
    expect(digest({ deny: ['bash', 'BASH'], allow: ['bash(ls**)', 'read', ' write(src/**) '], ask: [] })).toBe(one);
    expect(one).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test('differs by rule, list, default and case of a pattern', () => {
    const digests = [
      digest({ allow: ['read'] }),
      digest({ deny: ['read'] }),
      digest({ ask: ['read'] }),
      digest({ allow: ['read'], default: 'deny' }),
      digest({ allow: ['read(a)'] }),
      digest({ allow: ['read(A)'] }),
      digest({ allow: ['read(\\*)'] }),
      digest({ allow: ['read(*)'] }),
    ];
    expect(new Set(digests).size).toBe(digests.length);
  });
});

const subject = fc.array(
  fc.constantFrom('a', 'src', '/', '*', '?', '\\', '(', ')', ':', ':*', ' ', '\n', '{"x":1}', '🙂'),
  {
    maxLength: 8,
  },
);
const subjectText = subject.map((pieces) => pieces.join(''));

describe('the suggestion', () => {
  test('is the rule for this very call', () => {
    expect(decide({}, 'write', 'src/app.ts').suggestion).toBe('write(src/app.ts)');
    expect(decide({}, 'bash', 'rm *:*').suggestion).toBe('bash(rm \\*:\\*)');
    expect(decide({}, 'Write', 'a\\b?').suggestion).toBe('Write(a\\\\b\\?)');
    expect(decide({}, 'move', 'src/a/x', 'src/a/b/y', 'src/a/x').suggestion).toBe('move(src/a/**)');
    expect(decide({}, 'move', 'a', 'b').suggestion).toBe('move');
    expect(decide({}, 'move', '/a', '/b').suggestion).toBe('move(/**)');
  });

  test('is left out where it would not help, or would allow more than it says', () => {
    expect(decide({ ask: ['write'] }, 'write', 'a')).not.toHaveProperty('suggestion');
    expect(decide({ deny: ['write'] }, 'write', 'a')).not.toHaveProperty('suggestion');
    expect(decide({}, 'to ol', 'a')).not.toHaveProperty('suggestion');
    expect(decide({}, 't*l', 'a')).not.toHaveProperty('suggestion');
    expect(decide({}, 'mcp__git', 'a')).not.toHaveProperty('suggestion');
    expect(decide({}, 'bash', 'x'.repeat(1000))).not.toHaveProperty('suggestion');
  });

  test('allows the call when it is added to the rules, and for one subject nothing else', () => {
    fc.assert(
      fc.property(fc.array(subjectText, { maxLength: 3 }), subjectText, (subjects, other) => {
        const { suggestion = '' } = decide({ allow: ['tool(a)'] }, 'tool', ...subjects);
        const rules = { allow: ['tool(a)', ...(suggestion === '' ? [] : [suggestion])] };
        expect(decide(rules, 'tool', ...subjects).decision).toBe('allow');
        const [only = ''] = subjects;
        fc.pre(subjects.length === 1 && only !== '' && other !== only && other !== 'a');
        expect(decide(rules, 'tool', other).decision).toBe('ask');
      }),
      { numRuns: 300 },
    );
  });
});

test('a rule and its normal form are read in the same way', () => {
  const name = fc.constantFrom('Read', 'mcp__A', 'x*', 'a?b', 'é', '**');
  const pattern = fc.array(fc.constantFrom('a', '/', '*', '**', ':*', '\\*', '?', '(', ')', ' '), { maxLength: 6 });
  fc.assert(
    fc.property(name, pattern, (tool, pieces) => {
      const rule = parseRule(pieces.length === 0 ? tool : `${tool}(${pieces.join('')})`);
      const { text: _, ...again } = parseRule(formatRule(rule));
      expect(again).toEqual({ tool: rule.tool, ...(rule.pattern === undefined ? {} : { pattern: rule.pattern }) });
      expect(formatRule({ text: '', ...again })).toBe(formatRule(rule));
    }),
  );
});
