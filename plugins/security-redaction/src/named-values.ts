import type { Finding } from '@perdure/plugin-api';
import { forEachMatch, type Detector } from './detector.js';
import { isRandom } from './entropy.js';
import { standsForAnother } from './placeholder.js';

/** Names whose values are secrets; of a token it depends on how it looks. */
const NAME =
  '(?:pass(?:word|wd|phrase|code)|passwd|pwd|secret|token|credentials?|' +
  '(?:api|access|account|private|secret|signing|encryption|shared|master|subscription|auth)[_. -]?key)' +
  '(?:[_-]?(?:key|value|base64|b64|[0-9]{1,3}))?';
const VALUE = '[^\\s"\'`,;<>(){}\\[\\]&|\\\\]{8,512}';
const ASSIGNED = new RegExp(
  `(${NAME})(?:["'\`\\]]{0,2}[ \\t]{0,4}(?:=>|:=|==|[:=>])[ \\t\\r\\n]{0,4}["'\`]?|["'\`],[ \\t]{0,4}["'\`])(${VALUE})`,
  'gi',
);
/** An option of a command: its value stands behind a space. */
const OPTION = new RegExp(`--[a-z-]{0,20}(${NAME})[ \\t]{1,4}["']?(${VALUE})`, 'gi');
const WHOLE_NAME = new RegExp(`(?:^|[^a-z]|[a-z](?=[A-Z]))?(${NAME})$`, 'i');

/** A line of `/etc/passwd`: the name of the file may stand before it. */
const ACCOUNT = /^[a-z_][\w.-]{0,32}:[x*!]?:[0-9]{1,10}:/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const WORDS = /^[a-z]+(?:[-_.:/][a-z]+|[-_.:/]v?[0-9]{1,4})+$/i;
/** A name in a program, with a number at its end. */
const CAMEL = /^_?[a-z]+(?:[A-Z][a-z]+)*[0-9]{0,2}$/;
const MEMBER = /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$/;

/** Values that look random behind names like `password`, in the ways in which programs and files write them. */
export const namedValues: Detector = {
  kind: 'named-secret',
  maxMatch: 640,
  minMatch: 12,
  hint: /pass|pwd|secret|token|credential|key/i,
  find(text) {
    const found: Finding[] = [];
    for (const pattern of [ASSIGNED, OPTION]) {
      forEachMatch(pattern, text, ({ index, 0: whole, 1: name = '', 2: value = '' }) => {
        const end = index + whole.length;
        if (isSecret(name, value)) found.push({ start: end - value.length, end, kind: kindOf(name) });
      });
    }
    return found;
  },
};

/** What the value of a member of this name is. */
export function namedKind(name: string, value: string): string | undefined {
  if (value.length > 512 || /\s/.test(value)) return undefined;
  const found = WHOLE_NAME.exec(name)?.[1];
  return found !== undefined && isSecret(found, value) ? kindOf(found) : undefined;
}

export const nameAtEnd = new RegExp(
  `(?:${NAME})["'\`\\]]{0,2}[ \\t]{0,4}(?:(?:=>|:=|==|[:=>])[ \\t\\r\\n]{0,4}["'\`]?)?[ \\t\\r\\n]{0,4}$`,
  'i',
);

function kindOf(name: string): string {
  if (/^pass|^pwd/i.test(name)) return 'password';
  if (/token/i.test(name)) return 'token';
  return /key/i.test(name) ? 'api-key' : 'secret';
}

function isSecret(name: string, value: string): boolean {
  if (value.length < 8 || standsForAnother(value)) return false;
  if (MEMBER.test(value) || ACCOUNT.test(value)) return false;
  if (/^(?:https?:|\.{0,2}\/|[a-z]:\\)/i.test(value)) return false;
  const isPassword = /^pass|^pwd/i.test(name);
  if (!isPassword && (WORDS.test(value) || CAMEL.test(value))) return false;
  const isWeak = /token|credential/i.test(name);
  if (isWeak) return value.length >= 16 && !UUID.test(value) && isRandom(value, 3);
  return isRandom(value, isPassword ? 2.3 : 2.8);
}
