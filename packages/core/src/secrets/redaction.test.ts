import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Redaction } from './redaction.js';
import { SecretRegistry } from './secret-registry.js';
import { StreamRedactor } from './stream-redactor.js';

const secrets = { SHORT: 'abcabc', LONG: 'abcabcabd', QUOTED: 'pass"word\n1' };
const redaction = new Redaction(new SecretRegistry(secrets));

describe('registered secrets [P16]', () => {
  test('are replaced in every text of a value, in its JSON spelling too', () => {
    const value = {
      text: 'x abcabcabd y',
      list: ['abcabc'],
      nested: { json: JSON.stringify({ p: secrets.QUOTED }) },
      n: 1,
    };
    expect(redaction.redact(value)).toEqual({
      text: 'x secret://LONG y',
      list: ['secret://SHORT'],
      nested: { json: '{"p":"secret://QUOTED"}' },
      n: 1,
    });
  });

  test('leave a value without a match as it is', () => {
    const value = { text: 'nothing', list: [1, { a: 'b' }] };
    expect(redaction.redact(value)).toBe(value);
  });

  test('come back in arguments, and only registered ones do', () => {
    const registry = new SecretRegistry(secrets);
    expect(registry.resolve({ url: 'https://x/?k=secret://SHORT', l: ['secret://LONG'] }, 'fetch')).toEqual({
      url: 'https://x/?k=abcabc',
      l: ['abcabcabd'],
    });
    expect(() => registry.resolve('secret://OTHER', 'fetch')).toThrow(/OTHER/);
  });

  test('must have a name and some length, and the error does not tell the value', () => {
    expect(() => new SecretRegistry({ 'a b': 'longenough' })).toThrow(/secrets.a b/);
    expect(() => new SecretRegistry({ A: 'xyzzy' })).toThrow(/^(?!.*xyzzy).*secrets\.A/);
  });

  test('are found in a stream wherever its pieces part, and what is not secret comes through whole', () => {
    const piece = fc.constantFrom('abc', 'ab', 'c', 'abd', 'a', 'x', 'pass"w', 'ord\n1', 'abcabcabd', 'zz');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const stream = new StreamRedactor(redaction.texts);
        const shown = pieces.map((each) => stream.push(each)).join('') + stream.end();
        for (const value of Object.values(secrets)) expect(shown).not.toContain(value);
        expect(shown).toBe(redaction.redactText(pieces.join('')));
      }),
      { numRuns: 500 },
    );
  });
});
