import type { Finding } from '@perdure/plugin-api';
import { forEachMatch, type Detector } from './detector.js';

/** A key of RSA with 8,192 bits has about 6,400 characters. */
const LONGEST = 8_192;
const BEGIN = /-----BEGIN (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;
/** Lines like `Proc-Type: 4,ENCRYPTED`, and then the key. A mention in a program has none. */
const BODY = /\s{0,8}(?:[A-Za-z-]{1,40}: [^\n]{0,100}\n\s{0,8}){0,4}[A-Za-z0-9+/=]{16}/y;
const REST = /[A-Za-z0-9+/=\s:,.-]{0,8000}/y;
const END = /-----END (?:[A-Z0-9]{1,16} ){0,4}PRIVATE KEY(?: BLOCK)?-----/g;

/** Private keys between their marks. Where the end is missing, what is there of the key. */
export const pemKeys: Detector = {
  kind: 'private-key',
  maxMatch: LONGEST,
  minMatch: 44,
  hint: /-----BEGIN /,
  find(text) {
    const found: Finding[] = [];
    let until = 0;
    forEachMatch(BEGIN, text, (match) => {
      if (match.index < until) return;
      const body = match.index + match[0].length;
      BODY.lastIndex = body;
      if (!BODY.test(text)) return;
      until = endOf(text, body);
      found.push({ start: match.index, end: until, kind: 'private-key' });
    });
    return found;
  },
};

function endOf(text: string, body: number): number {
  REST.lastIndex = body;
  const rest = REST.exec(text)?.[0] ?? '';
  END.lastIndex = 0;
  const within = text.slice(body, body + rest.length + 100);
  const end = END.exec(within);
  return end === null ? body + rest.trimEnd().length : body + end.index + end[0].length;
}

const LINE =
  '(?:\\r?\\n[ \\t]{0,40}[A-Za-z0-9+/]{40,80}){0,120}(?:\\r?\\n[ \\t]{0,40}[A-Za-z0-9+/]{1,80}={0,2}(?![A-Za-z0-9]))?';
const DER = new RegExp(
  '(?<![A-Za-z0-9+/])(?:MII[B-Z][A-Za-z0-9+/][AQgw]IBA|MHcCAQEEI|MI[GH][A-Za-z0-9+/]AgEA|MC4CAQAwBQYDK2Vw|' +
    `b3BlbnNzaC1rZXktdjEA)[A-Za-z0-9+/]{32,8000}${LINE}={0,2}`,
  'g',
);

/** Private keys in base64 without their marks, by how their structure begins. */
export const bareKeys: Detector = {
  kind: 'private-key',
  maxMatch: LONGEST,
  minMatch: 40,
  hint: /MII[B-Z]|MHcC|MI[GH]|MC4C|b3BlbnNzaC1r/,
  find(text) {
    const found: Finding[] = [];
    forEachMatch(DER, text, ({ index, 0: { length } }) => {
      found.push({ start: index, end: index + length, kind: 'private-key' });
    });
    return found;
  },
};
