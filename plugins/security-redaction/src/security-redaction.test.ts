import { readdirSync, readFileSync } from 'node:fs';
import { createTestRuntime } from '@perdure/core/testing';
import { isPerdureError } from '@perdure/plugin-api';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { credentialRedactor } from './credential-redactor.js';
import { hostDetector } from './host-pattern.js';
import { securityRedaction } from './security-redaction.js';

const redactor = credentialRedactor({ without: [], added: [], allowed: [] });
const found = (text: string): readonly string[] => [
  ...new Set(redactor.find(text).map(({ start, end }) => text.slice(start, end))),
];

/** Credentials are put together here, so that no scanner takes this file for a leak. */
const random = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA';
const hex = '4f9a1c7e2b8d6035f1e9a7c3b5d80246';
const credentials: Readonly<Record<string, string>> = {
  openai: `sk-${random}`,
  'openai of a project': `sk-proj-${random}${random}`,
  anthropic: `sk-ant-api03-${random}`,
  aws: ['AKIA', 'IOSFODNN7EXAMPLQ'].join(''),
  google: `AIza${random}Xy9`,
  github: `ghp_${random}abCD`,
  'github, fine-grained': `github_pat_${random}`,
  gitlab: `glpat-${random.slice(0, 20)}`,
  slack: `xoxb-123456789012-${random.slice(0, 12)}`,
  stripe: `sk_live_${random}`,
  npm: `npm_${random}abCD`,
  pypi: `pypi-AgEI${random}${random}`,
  huggingface: `hf_${random}`,
  sendgrid: `SG.${random.slice(0, 22)}.${random}`,
  telegram: `123456789:AA${random}X`,
  jwt: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${random}`,
  card: '4111 1111 1111 1111',
  'card without groups': '5500005555555559',
  'card of fifteen digits': '3782-822463-10005',
};

/** Texts in which a value stands, as files and programs write it. */
const named: Readonly<Record<string, string>> = {
  env: 'DB_PASSWORD=VALUE\n',
  json: '{"password": "VALUE"}',
  yaml: 'client_secret: VALUE\n',
  ini: 'api_key = VALUE\n',
  query: 'https://x.example/?user=a&access_token=VALUE&b=1',
  flag: 'tool --api-key VALUE --verbose',
  xml: '<password>VALUE</password>',
  header: 'Authorization: Bearer VALUE',
  'header alone': 'curl -H "X-Api-Key: VALUE" https://x.example',
  url: 'postgres://app:VALUE@db.example:5432/app',
};

function pem(bits: number): string {
  const body = Array.from({ length: Math.ceil((bits / 8) * 0.098) }, (_, line) =>
    `${line}${random}${random}`.slice(0, 64),
  ).join('\n');
  return `-----BEGIN RSA PRIVATE KEY-----\n${body}\nabc=\n-----END RSA PRIVATE KEY-----`;
}

describe('credentials', () => {
  test.each(Object.entries(credentials))('of %s are found', (_, credential) => {
    expect(found(`before ${credential} behind`)).toEqual([credential]);
    expect(found(`"${credential}",`)).toEqual([credential]);
    expect(found(credential)).toEqual([credential]);
  });

  test.each(Object.entries(named))('are found by their name: %s', (_, text) => {
    const value = 'q7Rt2LmZx9Kp4Wv6';
    expect(found(text.replace('VALUE', value))).toEqual([value]);
    expect(found(text.replace('VALUE', 'secret://NAME'))).toEqual([]);
    expect(found(text.replace('VALUE', '[redacted:token]'))).toEqual([]);
    expect(found(text.replace('VALUE', '${VALUE}'))).toEqual([]);
  });

  test.each([2_048, 4_096, 8_192])('private keys of %d bits are found, with and without their marks', (bits) => {
    const key = pem(bits);
    expect(found(`x\n${key}\ny`)).toEqual([key]);
    expect(key.length).toBeLessThan(redactor.maxMatch);
    const open = key.slice(0, key.length - 60);
    expect(found(open)).toEqual([open]);
    expect(found(`MIIEpAIBAAKCAQEA${random}${random}`)).toHaveLength(1);
    expect(found("if (text.includes('-----BEGIN RSA PRIVATE KEY-----')) throw new Error('no');")).toEqual([]);
  });

  test('are the values of members with such names', () => {
    expect(redactor.findNamed?.('clientSecret', 'q7Rt2LmZx9Kp4Wv6')).toEqual({ kind: 'secret' });
    expect(redactor.findNamed?.('DB_PASSWORD', 'hunter2hunter2')).toEqual({ kind: 'password' });
    expect(redactor.findNamed?.('idempotencyKey', 'call_0123456789abcdef01234567')).toBeUndefined();
    expect(redactor.findNamed?.('tokenizer', 'q7Rt2LmZx9Kp4Wv6')).toBeUndefined();
    expect(redactor.findNamed?.('token', '3f2504e0-4f89-41d3-9a0c-0305e82c3301')).toBeUndefined();
  });
});

describe('what is no credential stays', () => {
  test.each([
    '3f2504e0-4f89-41d3-9a0c-0305e82c3301',
    `sha256:${hex}${hex}`,
    `commit ${hex}01234567`,
    `data:image/png;base64,iVBORw0KGgo${random.repeat(40)}`,
    'const token = await getToken(request);',
    'password: process.env.DB_PASSWORD1',
    'secretName: my-app-tls-1',
    'max_tokens: 4096, token_type: "bearer"',
    'sk-loading-spinner-wrapper-large-container',
    'order 4111 1111 1111 1112, call 1796095131000 or 17960951310001234',
    'https://example.com:8080/a@b and git@github.com:owner/name.git',
    'postgres://user:password@localhost/app',
    '"integrity": "sha512-aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAaB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAaB3dE5gH7jK9mN1pQ2=="',
    'the authorization: required for all, basic authentication, bearer of bad news',
    'keyboard: qwertyuiop12, monkey=banana123',
  ])('%s', (text) => {
    expect(found(text)).toEqual([]);
  });

  test('in the sources of this package, and in those of a library', () => {
    const own = new URL('./', import.meta.url);
    const library = new URL('./', import.meta.resolve('fast-check'));
    for (const folder of [own, library]) {
      const files = readdirSync(folder).filter((name) => /\.(ts|js|cjs)$/.test(name) && !name.includes('.test.'));
      expect(files.length).toBeGreaterThan(0);
      for (const name of files) expect([name, found(readFileSync(new URL(name, folder), 'utf8'))]).toEqual([name, []]);
    }
  });
});

describe('time', () => {
  const hostile = [
    'sk-',
    'eyJ',
    'eyJaaaaaaaaaa.',
    'ghp_',
    'github_pat_',
    'AKIA',
    '-----BEGIN PRIVATE KEY-----',
    'password=',
    'password: "',
    'token',
    '://',
    '://a:',
    '4111 ',
    '1111',
    'bearer ',
    'authorization: ',
    'key-',
    'MIIEpAIBAAKC',
    'MIIEpAIBAAKC\n',
    '_key',
    'a.',
    '--password ',
    '-',
    ' ',
    '\n',
    'A',
    `${'A'.repeat(64)}\n`,
    'Proc-Type: 4\n',
    'pass"]',
    'SG.aaaaaaaaaaaaaaaa.',
  ];

  test('is linear in texts that are made to take long', () => {
    const cost = (text: string): number => {
      const before = process.cpuUsage();
      redactor.find(text);
      redactor.continues?.(`${text.slice(-255)}\n`);
      return process.cpuUsage(before).user / 1_000;
    };
    for (const piece of hostile) {
      const text = piece.repeat(Math.ceil(120_000 / piece.length));
      // What backtracks would take minutes.
      expect([piece, cost(text) < 3_000]).toEqual([piece, true]);
    }
  });

  test('is so for any mixture of them', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...hostile), { minLength: 1, maxLength: 6 }), (pieces) => {
        const text = pieces.join('').repeat(200);
        const before = process.cpuUsage();
        redactor.find(text);
        return process.cpuUsage(before).user < 3_000_000;
      }),
      { numRuns: 60 },
    );
  });
});

describe('patterns of the host', () => {
  test('are looked for, in one way at each place', () => {
    const detector = hostDetector({ kind: 'badge', pattern: 'emp-[0-9]{6}[A-Z]?' });
    expect(detector.maxMatch).toBe(11);
    expect(detector.find('see emp-123456X and emp-1').map(({ start, end }) => [start, end])).toEqual([[4, 15]]);
  });

  test.each([
    ['(a+)+bcdef', '"("'],
    ['a+bcdefg', 'no end'],
    ['abcdef.*', '"."'],
    ['a|b', '"|"'],
    ['[a-z]{1,9}abcdef', 'beginning'],
    ['[a-z]{1,9}[0-9]?xabcdef', 'beginning'],
    ['abc', 'less than 6'],
    ['a{6,9999}', 'at most'],
    ['\\bsecret', '"\\b"'],
    ['x[a-z]{1000}[0-9]{1000}[A-Z]{1000}[a-z]{1000}[0-9]{1000}', 'more than'],
    ['abcdef[a-', 'end'],
    ['abcdef\\1', '"\\1"'],
  ])('like %s are refused', (pattern, reason) => {
    expect(() => hostDetector({ kind: 'x', pattern })).toThrow(reason);
  });

  test('stop the runtime when they cannot be used, and the error names the field', async () => {
    const config = { patterns: [{ kind: 'x', pattern: '(a+)+' }] };
    await expect(createTestRuntime({ plugins: [{ plugin: securityRedaction, config }] })).rejects.toSatisfy(
      (error) => isPerdureError(error) && error.message.includes('patterns.0.pattern'),
    );
  });

  test('and what is allowed, and what is not looked for, change what is found', () => {
    const key = credentials['github'] ?? '';
    const without = credentialRedactor({ without: ['provider-keys'], added: [], allowed: [] });
    const allowing = credentialRedactor({ without: [], added: [], allowed: [key] });
    expect(without.find(key)).toEqual([]);
    expect(allowing.find(`${key} ${credentials['npm']}`)).toHaveLength(1);
  });
});
