import type { Finding } from '@perdure/plugin-api';
import { forEachMatch, type Detector } from './detector.js';

const DIGITS = /(?<![\w.-])[0-9]{4}(?:[ -]?[0-9]{4}[ -]?[0-9]{4}[ -]?[0-9]{4}|[ -]?[0-9]{6}[ -]?[0-9]{4,5})(?![\w-])/g;
/** Visa, Mastercard, Discover, JCB with 16 digits; American Express with 15; Diners with 14. */
const ISSUED = new RegExp(
  [
    '^(?:4[0-9]{15}',
    '5[1-5][0-9]{14}',
    '2(?:22[1-9]|2[3-9][0-9]|[3-6][0-9]{2}|7[01][0-9]|720)[0-9]{12}',
    '6(?:011|5[0-9]{2})[0-9]{12}',
    '35(?:2[89]|[3-8][0-9])[0-9]{12}',
    '3[47][0-9]{13}',
    '3(?:0[0-5]|[68][0-9])[0-9]{11})$',
  ].join('|'),
);

/** Numbers of payment cards: of a known issuer, in the usual groups, with the right check digit. */
export const cards: Detector = {
  kind: 'card-number',
  maxMatch: 19,
  minMatch: 14,
  hint: /[0-9]{4}[ -]?[0-9]{4}/,
  find(text) {
    const found: Finding[] = [];
    forEachMatch(DIGITS, text, ({ index, 0: whole }) => {
      const digits = whole.replace(/[ -]/g, '');
      if (!ISSUED.test(digits) || !hasCheckDigit(digits)) return;
      found.push({ start: index, end: index + whole.length, kind: 'card-number' });
    });
    return found;
  },
};

function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let place = 0; place < digits.length; place++) {
    const digit = Number(digits[digits.length - 1 - place]);
    const weighed = place % 2 === 0 ? digit : digit * 2;
    sum += weighed > 9 ? weighed - 9 : weighed;
  }
  return sum % 10 === 0;
}
