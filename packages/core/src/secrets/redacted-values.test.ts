import { formatWords } from '@perdure/events';
import type { Redactor } from '@perdure/plugin-api';
import { describe, expect, test } from 'vitest';
import { Redaction } from './redaction.js';
import { SecretRegistry } from './secret-registry.js';

const ACCOUNT = '84219077';
const redaction = new Redaction(new SecretRegistry({ D: ACCOUNT, R: 'Zq8tangoWolf99x', S: 'Yq8tangoWolf99x' }));

describe('secrets that facts could not be read with [P16]', () => {
  const taken = ['completed', 'turnId', 'tool-call', 'session', 'message', 'ToolCall', 'handed'];

  test.each(taken)('%s is refused, and the error names the secret and not its value', (value) => {
    let refusal: unknown;
    try {
      expect(new SecretRegistry({ MINE: value })).toBeUndefined();
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: 'PERDURE_CONFIGURATION', data: { field: 'secrets.MINE' } });
    expect(JSON.stringify(refusal) + String(refusal)).not.toContain(value);
  });

  test('are all words of the schemas that are long enough', () => {
    const words = formatWords().words.filter((word) => word.length >= 6);
    expect(words).toEqual(expect.arrayContaining(['ToolCallSettled', 'startedAt', 'handed-over', 'schema_version']));
    for (const word of words) expect(() => new SecretRegistry({ A: word })).toThrow('secrets.A');
    expect(() => new SecretRegistry({ A: 'completely', B: 'a sessions' })).not.toThrow();
  });
});

describe('numbers', () => {
  test('that show a registered secret are replaced where any value may stand', () => {
    expect(redaction.redact({ a: 84219077, b: [-84219077, 84219077.5, 1842190779], c: 84219078 })).toEqual({
      a: 'secret://D',
      b: ['-secret://D', 'secret://D.5', '1secret://D9'],
      c: 84219078,
    });
  });

  test('of the form of a fact stay, and those in its open members do not', () => {
    const fact = { callId: 'c', status: 'completed', output: { n: 84219077 }, startedAt: 84219077, endedAt: 5 };
    expect(redaction.redactFact(fact)).toEqual({ ...fact, output: { n: 'secret://D' } });
    for (const member of ['input', 'output', 'data', 'providerMetadata']) {
      expect(formatWords().openMembers).toContain(member);
    }
    for (const member of ['startedAt', 'tokensBefore', 'bytes']) {
      expect(formatWords().openMembers).not.toContain(member);
    }
  });

  test('that a redactor finds are replaced with either sign', () => {
    const card: Redactor = {
      id: 'card',
      maxMatch: 16,
      find: (text) =>
        Array.from(text.matchAll(/(?<![-\w])4111111111111111/g), ({ index }) => ({
          start: index,
          end: index + 16,
          kind: 'card',
        })),
    };
    const finding = new Redaction(new SecretRegistry(), [card]);
    expect(finding.redact([4111111111111111, -4111111111111111, 411111111111])).toEqual([
      '[redacted:card]',
      '-[redacted:card]',
      411111111111,
    ]);
  });
});

test('members whose names are secrets keep their values, each under a name of its own', () => {
  const value = { Zq8tangoWolf99x: 1, 'secret://R': 2, other: 3, x: { Zq8tangoWolf99x: 4, Yq8tangoWolf99x: 5 } };
  const shown = redaction.redact(value);
  expect(shown).toEqual({
    'secret://R': 1,
    'secret://R#2': 2,
    other: 3,
    x: { 'secret://R': 4, 'secret://S': 5 },
  });
  expect(redaction.redact(shown)).toEqual(shown);
  const one = new Redaction(new SecretRegistry({ A: 'first-value', B: 'first-value' }));
  expect(one.redact({ 'first-value': 1, 'first%2Dvalue': 2 })).toEqual({ 'secret://A': 1, 'secret://A#2': 2 });
});

describe('bytes [P16]', () => {
  const buffer = (text: string): unknown => JSON.parse(JSON.stringify(Buffer.from(text)));

  test('in a list are redacted like the text that they are', () => {
    expect(redaction.redact({ raw: buffer('token Zq8tangoWolf99x!') })).toEqual({
      raw: buffer('token secret://R!'),
    });
    const [first = 0] = Buffer.from('\0');
    const binary = [first, ...Buffer.from('Zq8tangoWolf99x')];
    expect(redaction.redactFact({ output: { binary } })).toEqual({
      output: { binary: [0, ...Buffer.from('secret://R')] },
    });
    const others = { prices: [1, 20, 300, 4, 5, 6, 7], bytes: [...Buffer.from('nothing here')] };
    expect(redaction.redact(others)).toBe(others);
  });

  test('of two for each character are found, in base64 too, wherever they stand in it', () => {
    for (const before of ['', 'a', 'ab', 'abc']) {
      const wide = Buffer.from(`${before}Zq8tangoWolf99x`, 'utf16le');
      for (const text of [wide.toString('latin1'), wide.toString('base64')]) {
        const shown = redaction.redactText(text);
        expect(shown).not.toBe(text);
        expect(shown).toContain('secret://R');
      }
    }
  });
});
