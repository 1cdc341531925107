import type { Redactor } from '@perdure/plugin-api';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { holdsMark } from './redaction-marks.js';
import { Redaction } from './redaction.js';
import { SecretRegistry } from './secret-registry.js';
import { StreamRedactor } from './stream-redactor.js';

const VALUE = 'Xy7/z+Q w9"Käse&<1>';
const KEY = 'key-4f9ZqL28xPwVb61TnR';
/** Finds keys of one format, and values with a space in them. */
const finder: Redactor = {
  id: 'keys',
  maxMatch: 40,
  minMatch: 10,
  find: (text) =>
    Array.from(text.matchAll(/key-[A-Za-z0-9]{18}|pin is [0-9]{4}/g), ({ index, 0: { length } }) => {
      return { start: index, end: index + length, kind: 'key' };
    }),
  continues: (tail) => /pin (?:is )?$/.test(tail),
};
const redaction = new Redaction(new SecretRegistry({ PASS: VALUE }), [finder]);

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const hex = (text: string): string => Buffer.from(text).toString('hex');
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const unicode = (text: string): string =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('');
const entities = (text: string): string => Array.from(text, (each) => `&#${each.codePointAt(0)};`).join('');
const percent = (text: string): string => Buffer.from(text).toString('hex').replace(/../g, '%$&');
const bytes = (text: string): string => Buffer.from(text).toString('hex').replace(/../g, '\\x$&');
const wrapped = (text: string): string => base64(text).replace(/.{64}/g, '$&\n');

const encodings: Readonly<Record<string, (text: string) => string>> = {
  ...{ base64, hex, json, unicode, entities, percent, bytes },
  'url-safe base64': (text) => Buffer.from(text).toString('base64url'),
  'a URL': encodeURIComponent,
  'JSON in JSON': (text) => json(json(text)),
  'base64 in base64': (text) => base64(base64(text)),
  'base64 in JSON': (text) => json(`x\n${base64(text)}`),
  'escapes in base64': (text) => base64(unicode(text)),
  'base64 behind another byte': (text) => base64(`a${text}`),
  'base64 behind two other bytes': (text) => base64(`ab${text}bc`),
};

describe('what must not be shown [P16]', () => {
  test.each(Object.entries(encodings))('is found in %s', (_, encode) => {
    for (const secret of [VALUE, KEY]) {
      const encoded = encode(`${secret} and`);
      const shown = redaction.redactText(`it is ${encoded} so`);
      const whole = encode(secret);
      for (let at = 0; at + 16 <= whole.length; at += 4) expect(shown).not.toContain(whole.slice(at, at + 16));
      expect(shown.startsWith('it is ') && shown.endsWith(' so')).toBe(true);
      expect(redaction.redactText(shown)).toBe(shown);
    }
  });

  test('is found in the wrapped lines of an encoder, as they are and in JSON', () => {
    for (const secret of [VALUE, KEY]) {
      const lines = wrapped(`${'some other text, '.repeat(9)}${secret}${', and more of it'.repeat(9)}`);
      for (const shown of [redaction.redactText(lines), JSON.parse(redaction.redactText(JSON.stringify(lines)))]) {
        const decoded = Buffer.from(shown, 'base64').toString();
        expect(decoded).not.toContain(secret);
        expect(decoded).toMatch(/text, (\[redacted:key\]|secret:\/\/PASS)[ ,]*and more/);
      }
    }
  });

  test('leaves what it is encoded in readable, with the rest of it', () => {
    const text = `before ${KEY} behind`;
    expect(atob(redaction.redactText(base64(text)))).toMatch(/^before \[redacted:key\] *behind$/);
    expect(Buffer.from(redaction.redactText(hex(text)), 'hex').toString()).toBe('before [redacted:key] behind');
    expect(JSON.parse(redaction.redactText(JSON.stringify({ a: `"${KEY}"\n` })))).toEqual({ a: '"[redacted:key]"\n' });
  });

  test('is found whatever comes before it, and where its pieces part; the pieces add up to the redacted whole', () => {
    const all = Object.values(encodings).flatMap((encode) => [encode(VALUE), encode(KEY)]);
    const plain = fc.constantFrom(
      ' ',
      '\n',
      'word ',
      'x=',
      '日本',
      '"',
      'the pin ',
      'is 4711 ',
      'A'.repeat(50),
      '\\n',
      '😀',
    );
    const piece = fc.oneof(plain, fc.constantFrom(...all));
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(fc.nat(40), { minLength: 1, maxLength: 9 }),
        (parts, sizes) => {
          const text = parts.join('');
          const stream = new StreamRedactor(redaction.texts);
          let shown = '';
          for (let at = 0, turn = 0; at < text.length; turn++) {
            const size = (sizes[turn % sizes.length] ?? 0) + 1;
            shown += stream.push(text.slice(at, at + size));
            at += size;
          }
          shown += stream.end();
          expect(shown).toBe(redaction.redactText(text));
          expect(shown).not.toContain(KEY);
          expect(shown).not.toContain(VALUE);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('is found in a text without an end, and no more is held back than is declared', () => {
    const { longest } = redaction.texts;
    const stream = new StreamRedactor(redaction.texts);
    let shown = '';
    let given = 0;
    for (let turn = 0; turn < 40; turn++) {
      const piece = `${'z.'.repeat(300 + turn)}${KEY}.`;
      given += piece.length;
      shown += stream.push(piece);
      expect(given - shown.length).toBeLessThan(2 * longest + 40 * KEY.length);
    }
    shown += stream.end();
    expect(shown).not.toContain(KEY);
    expect(shown.split('[redacted:key]')).toHaveLength(41);
  });

  test('goes with the whole text where a redactor fails, or points outside', () => {
    const throwing: Redactor = {
      ...finder,
      find: () => {
        throw new Error('no');
      },
    };
    const lost: Redactor = { ...finder, find: () => [{ start: 0, end: 1e9, kind: 'x' }] };
    for (const each of [throwing, lost]) {
      const failing = new Redaction(new SecretRegistry(), [each]);
      expect(failing.redactText('something-private')).toBe('[redacted:undecided]');
    }
  });

  test('leaves a mark that is known in every encoding, and opaque data of providers has none', () => {
    const found = redaction.redact({ args: [base64(`{"k":"${KEY}"}`)], providerMetadata: { p: { signature: KEY } } });
    expect(found.providerMetadata.p.signature).toBe(KEY);
    expect(holdsMark(found.args)).toBe(true);
    expect(holdsMark({ a: 'nothing', b: ['redacted'] })).toBe(false);
  });

  test('is taken out of bytes without a change to the others', () => {
    const text = Buffer.from(`ä ${KEY} ü ${VALUE}`);
    expect(Buffer.from(redaction.redactBytes(text)).toString()).toBe('ä [redacted:key] ü secret://PASS');
    const image = Buffer.from([0, 255, 1, 2, 3, ...Buffer.from(KEY)]);
    expect(redaction.redactBytes(image)).toBe(image);
    const leaking = Buffer.from([0, 255, ...Buffer.from(VALUE), 0]);
    const expected = Buffer.from([0, 255, ...Buffer.from('secret://PASS'), 0]);
    expect(Buffer.from(redaction.redactBytes(leaking))).toEqual(expected);
  });
});
