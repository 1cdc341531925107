import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { PerdureRuntime } from '@perdure/core';
import { createTestRuntime } from '@perdure/core/testing';
import { securityRedaction } from '@perdure/security-redaction';
import { storeMemory } from '@perdure/store-memory';
import { root } from '../architecture/workspace.js';
import { keyFor } from '../fixtures/planted.js';

const TOKEN = 'tok_9f8e7d6c5b4a';
const made: { runtime?: PerdureRuntime } = {};
beforeAll(async () => {
  made.runtime = await createTestRuntime({ plugins: [storeMemory, securityRedaction], secrets: { TOKEN } });
});
afterAll(() => made.runtime?.dispose());
const redacted = (text: string): string => made.runtime?.services.redaction.redactText(text) ?? '';

/** The lines that are not as they were. */
function changed(text: string): readonly string[] {
  const before = text.split('\n');
  return redacted(text)
    .split('\n')
    .filter((line, index) => line !== before[index]);
}

function sourcesIn(folder: string): readonly string[] {
  return readdirSync(`${root}/${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/node_modules|out-tsc|dist|\.test\.ts$|\.fixture\.ts$/.test(name))
    .map((name) => `${folder}/${name}`);
}

describe('ordinary text stays as it is', () => {
  test('the lock file of this repository, with a digest for each package', () => {
    const text = readFileSync(`${root}/package-lock.json`, 'utf8');
    expect(text.match(/sha512-/g)?.length).toBeGreaterThan(100);
    expect(changed(text)).toEqual([]);
  });

  test('the sources of this repository', () => {
    const files = ['packages', 'plugins'].flatMap(sourcesIn);
    expect(files.length).toBeGreaterThan(400);
    const text = files.map((file) => readFileSync(`${root}/${file}`, 'utf8')).join('\n');
    expect(changed(text)).toEqual([]);
  });
});

describe('a secret is found beside and within odd text', () => {
  const key = keyFor('odd');
  test.each([
    ['letters beyond ASCII', `schlüssel=ä${key}ö`],
    ['a pair of surrogates', `😀${key}😀`],
    ['half a pair of surrogates', `\ud83d${key}\ude00`],
    ['a zero-width space', `\u200b${key}\u200b`],
    ['a byte order mark', `\ufeff${key}`],
    ['upper-case hexadecimal digits', Buffer.from(`a ${key} b`).toString('hex').toUpperCase()],
    [
      'escapes of both cases',
      Array.from(key, (each) => `\\u00${each.charCodeAt(0).toString(16).toUpperCase()}`).join(''),
    ],
    ['the border of what is looked at together', `${'word '.repeat(409)}${key}`],
    ['the border, in one word', `${'x'.repeat(2_040)}.${key}`],
    ['the border of what is held', `${'x'.repeat(65_530)}.${key}.${'y'.repeat(70_000)}`],
    ['a border in base64', Buffer.from(`${'x'.repeat(1_530)} ${key} ${'y'.repeat(3_000)}`).toString('base64')],
  ])('%s', (_, text) => {
    const shown = redacted(text);
    expect(shown).not.toContain(key.slice(0, 20));
    expect(shown).not.toBe(text);
    const stored = redacted(text.replace(key, TOKEN));
    if (text.includes(key)) expect(stored).toContain('secret://TOKEN');
  });
});
