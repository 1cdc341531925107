import type { Finding } from '@perdure/plugin-api';
import { forEachMatch, type Detector } from './detector.js';
import { entropyOf, isRandom } from './entropy.js';
import { standsForAnother } from './placeholder.js';

const HEADER = new RegExp(
  `authorization["']?[ \\t]{0,4}[:=][ \\t]{0,4}["']?(?:(?:bearer|basic|token|digest|apikey|negotiate)[ \\t]{1,4})?` +
    `([^\\s"',;<>]{8,4096})`,
  'gi',
);
const BEARER = /(?<![A-Za-z0-9_-])bearer[ \t]{1,4}([A-Za-z0-9._~+/=-]{16,4096})/gi;
const BASIC = /(?<![A-Za-z0-9_-])basic[ \t]{1,4}([A-Za-z0-9+/]{12,512}={0,2})/gi;
const USER_INFO = /:\/\/([^\s/:@"'<>?#\\]{0,128}):([^\s/@"'<>\\]{3,256})@/g;
const KNOWN_WORDS =
  /^(?:password|passwd|pass|secret|user|username|token|postgres|root|admin|guest|example|x-oauth-basic)$/i;

/** What requests are authorised with. */
export const headers: Detector = {
  kind: 'authorization',
  maxMatch: 4_140,
  minMatch: 12,
  hint: /bearer|basic|authorization/i,
  find(text) {
    const found: Finding[] = [];
    const look = (pattern: RegExp, isOne: (value: string) => boolean): void => {
      forEachMatch(pattern, text, ({ index, 0: whole, 1: value = '' }) => {
        if (standsForAnother(value) || !isOne(value)) return;
        const end = index + whole.length;
        found.push({ start: end - value.length, end, kind: 'authorization' });
      });
    };
    look(HEADER, (value) => /[0-9]/.test(value));
    look(BEARER, (value) => isRandom(value, 2.8));
    look(BASIC, (value) => /^[\x20-\x7e]*:[\x20-\x7e]+$/.test(atob(padded(value))));
    return found;
  },
};

/** Passwords in URLs. */
export const urlCredentials: Detector = {
  kind: 'url-password',
  maxMatch: 390,
  minMatch: 10,
  hint: /:\/\/[^\s/]{0,128}:/,
  find(text) {
    const found: Finding[] = [];
    forEachMatch(USER_INFO, text, ({ index, 0: whole, 1: user = '', 2: password = '' }) => {
      if (standsForAnother(password) || KNOWN_WORDS.test(password) || password === user) return;
      if (password.length < 6 || entropyOf(password) < 2) return;
      const end = index + whole.length - 1;
      found.push({ start: end - password.length, end, kind: 'url-password' });
    });
    return found;
  },
};

/** Text that cannot be base64 decodes to nothing that counts. */
function padded(value: string): string {
  const text = value.replace(/=+$/, '');
  return text.length % 4 === 1 ? '' : text;
}
