import type { Finding, Redactor } from '@perdure/plugin-api';
import { cards } from './cards.js';
import type { Detector } from './detector.js';
import { nameAtEnd, namedKind, namedValues } from './named-values.js';
import { bareKeys, pemKeys } from './private-keys.js';
import { providerKeys } from './provider-keys.js';
import { headers, urlCredentials } from './transport.js';

/** What is looked for unless it is left out. */
export const detectors = {
  'provider-keys': [providerKeys],
  'private-keys': [pemKeys, bareKeys],
  headers: [headers],
  'url-passwords': [urlCredentials],
  'named-secrets': [namedValues],
  cards: [cards],
} as const satisfies Readonly<Record<string, readonly Detector[]>>;

export type DetectorGroup = keyof typeof detectors;

/** The shortest of all that is looked for. */
const SHORTEST = 6;
/** The end of a text by which it is known whether something goes on. */
const END = 96;

export interface CredentialSettings {
  readonly without: readonly DetectorGroup[];
  readonly added: readonly Detector[];
  /** Texts that are no credentials although they look like one. */
  readonly allowed: readonly string[];
}

/** Finds credentials by their formats and by the names before them. */
export function credentialRedactor({ without, added, allowed }: CredentialSettings): Redactor {
  const groups = Object.entries(detectors).filter(([group]) => !without.includes(group as DetectorGroup));
  const used: readonly Detector[] = [...groups.flatMap(([, group]) => group), ...added];
  const hasNames = !without.includes('named-secrets');
  const known = new Set(allowed);
  const spanning = added.filter((detector) => detector.continues !== undefined);
  return {
    id: 'credentials',
    maxMatch: Math.max(1, ...used.map(({ maxMatch }) => maxMatch)),
    minMatch: SHORTEST,
    find: (text) => {
      const found: Finding[] = [];
      for (const detector of used) {
        if (text.length < detector.minMatch || !detector.hint.test(text)) continue;
        for (const finding of detector.find(text)) {
          if (known.size === 0 || !known.has(text.slice(finding.start, finding.end))) found.push(finding);
        }
      }
      return found;
    },
    ...(hasNames
      ? {
          findNamed: (name: string, value: string) => {
            const kind = known.has(value) ? undefined : namedKind(name, value);
            return kind === undefined ? undefined : { kind };
          },
        }
      : {}),
    mayBegin: (tail) =>
      used.some((detector) => detector.hint.test(tail)) ||
      BEGUN.test(tail) ||
      goesOn(tail) ||
      added.some((detector) => detector.mayHold?.(tail.charCodeAt(tail.length - 1)) ?? true),
    continues: (tail) => goesOn(tail) || spanning.some((detector) => detector.continues?.(tail) ?? false),
  };
}

/** What is found and has white space in it: names and their values, headers, groups of digits, keys in lines. */
function goesOn(tail: string): boolean {
  let end = tail.length;
  while (end > 0 && isSpace(tail.charCodeAt(end - 1))) end--;
  if (end === 0 || tail.length - end > 8) return false;
  const end64 = tail.slice(-END);
  const last = tail.charCodeAt(end - 1);
  if (isDigit(last)) return /(?:^|[^0-9A-Za-z])[0-9]{4,6} $/.test(end64) || nameAtEnd.test(end64);
  if (last === 45 || (last >= 65 && last <= 90)) {
    if (/-----(?:BEGIN|END)(?: [A-Z0-9]{1,16}){0,5}(?:-----)?\s{1,8}$/.test(end64)) return true;
  }
  if (isKeyLine(tail)) return true;
  const ending = tail.charCodeAt(tail.length - 1);
  if ((ending === 10 || ending === 13) && tail.length - end <= 4 && endsInKeyLines(tail, end)) return true;
  if (!ENDS_LIKE_NAME.test(tail.slice(Math.max(0, end - 14), end))) return false;
  return (
    nameAtEnd.test(end64) ||
    /(?:authorization["']?\s{0,4}[:=]|bearer|basic|digest|negotiate|apikey)["']?\s{1,4}$/i.test(end64)
  );
}

/** What ends like the beginning of a key that goes on behind a sign, where no hint is whole before it. */
const BEGUN = /(?:hooks\.|[0-9]{8,10}:|[MNO][\w-]{23,28}\.[\w-]{0,6}\.?|-----[A-Z ]{0,40})$/;

const ENDS_LIKE_NAME =
  /(?:word|wd|phrase|code|secret|token|credentials?|key|value|64|ization|bearer|basic|digest|negotiate|[:=>"'`\]])$/i;

/** A line of a key's head, like `DEK-Info: …`. */
function isKeyLine(tail: string): boolean {
  const begun = tail.lastIndexOf('-----BEGIN ');
  return begun >= 0 && tail.includes('PRIVATE KEY', begun) && !tail.includes('-----END', begun);
}

/** Whether a text ends with two lines of base64, the first of at least 40 characters. Each is looked at once. */
function endsInKeyLines(tail: string, end: number): boolean {
  const last = lineOfKey(tail, end, 80);
  if (last === end) return false;
  let at = last;
  while (last - at < 8 && (tail[at - 1] === ' ' || tail[at - 1] === '\t')) at--;
  if (tail[at - 1] !== '\n') return false;
  at -= tail[at - 2] === '\r' ? 2 : 1;
  return at - lineOfKey(tail, at, 42) >= 40;
}

/** Where the characters of base64 begin that end at a place, with its padding; at most so many are looked at. */
function lineOfKey(tail: string, end: number, most: number): number {
  let at = end;
  while (end - at < 2 && tail[at - 1] === '=') at--;
  const padded = at;
  while (padded - at < most && at > 0 && isKeyCharacter(tail.charCodeAt(at - 1))) at--;
  return padded === at ? end : at;
}

function isKeyCharacter(code: number): boolean {
  return (code >= 47 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 43;
}

function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
