import type { Finding, Redactor } from '@perdure/plugin-api';
import { base64Offsets, encodedRuns, SHORTEST_RUN, hexParts, placeIn, type EncodedRun } from './encoded-runs.js';
import { applied, merged, type Replacement } from './replacement.js';
import type { SecretRegistry } from './secret-registry.js';
import { unescaped } from './unescaped.js';

/** How often something may be encoded in itself and still be found. */
export const DEEPEST = 3;
const KIND = /^[a-z0-9-]{1,40}$/;

/** What is shown in the place of something that was found. */
export function markOf(kind: string): string {
  return `[redacted:${KIND.test(kind) ? kind : 'credential'}]`;
}

/** Finds what must not be shown in a text, also in what is encoded in it. Time is linear in the text. */
export class TextScanner {
  constructor(
    private readonly secrets: Pick<SecretRegistry, 'find'>,
    private readonly redactors: readonly Redactor[],
  ) {}

  /** Replacements in the order of the text, none overlapping another. */
  scan(text: string): readonly Replacement[] {
    return this.look(text, 0);
  }

  private look(text: string, depth: number): readonly Replacement[] {
    const found: Replacement[] = [...this.secrets.find(text)];
    for (const redactor of this.redactors) {
      if (text.length >= (redactor.minMatch ?? 1)) found.push(...findings(redactor, text));
    }
    if (depth < DEEPEST) {
      this.lookUnescaped(text, depth + 1, found);
      for (const run of text.length < SHORTEST_RUN ? [] : encodedRuns(text)) {
        for (const offset of base64Offsets(run.characters)) this.lookInBase64(run, offset, depth + 1, found);
        for (const part of hexParts(run.characters)) this.lookInHex(run, part, depth + 1, found);
      }
    }
    return merged(found);
  }

  private lookUnescaped(text: string, depth: number, found: Replacement[]): void {
    const plain = unescaped(text);
    if (plain === undefined) return;
    for (const each of this.look(plain.text, depth)) {
      const start = plain.places[each.start] ?? 0;
      const end = plain.places[each.end] ?? text.length;
      if (end > start) found.push({ ...each, start, end });
    }
  }

  /** What is found is replaced within whole groups of characters, so that the rest can still be decoded. */
  private lookInBase64(run: EncodedRun, offset: number, depth: number, found: Replacement[]): void {
    const { characters } = run;
    const decoded = Buffer.from(characters.slice(offset), 'base64').toString('latin1');
    const inner = this.look(decoded, depth);
    for (let index = 0; index < inner.length;) {
      const group: Replacement[] = [inner[index++] as Replacement];
      const first = Math.floor((group[0]?.start ?? 0) / 3);
      let last = Math.ceil((group[0]?.end ?? 0) / 3);
      for (; index < inner.length; index++) {
        const next = inner[index] as Replacement;
        if (next.start >= last * 3) break;
        group.push(next);
        last = Math.ceil(next.end / 3);
      }
      const base = first * 3;
      const within = group.map((each) => ({ ...each, start: each.start - base, end: each.end - base }));
      const plain = applied(decoded.slice(base, last * 3), within);
      const from = offset + first * 4;
      const to = Math.min(characters.length, offset + last * 4);
      const text = base64Of(plain, Math.min(last * 3, decoded.length) - base, /[-_]/.test(characters));
      found.push(placed(run, from, to, text, group));
    }
  }

  private lookInHex(run: EncodedRun, part: { start: number; end: number }, depth: number, found: Replacement[]): void {
    const decoded = Buffer.from(run.characters.slice(part.start, part.end), 'hex').toString('latin1');
    for (const each of this.look(decoded, depth)) {
      const text = Buffer.from(each.text, 'latin1').toString('hex');
      found.push(placed(run, part.start + each.start * 2, part.start + each.end * 2, text, [each]));
    }
  }
}

function placed(run: EncodedRun, from: number, to: number, text: string, group: readonly Replacement[]): Replacement {
  const isReference = group.every((each) => each.isReference);
  return { start: placeIn(run, from), end: placeIn(run, to - 1) + 1, text, isReference };
}

/** Spaces fill the text up, so that it ends where a group did before: what follows it, padding too, stays right. */
function base64Of(plain: string, before: number, isUrlSafe: boolean): string {
  const fill = (((before - plain.length) % 3) + 3) % 3;
  const text = Buffer.from(plain + ' '.repeat(fill), 'latin1')
    .toString('base64')
    .replaceAll('=', '');
  return isUrlSafe ? text.replaceAll('+', '-').replaceAll('/', '_') : text;
}

/** One that cannot say what is in a text has all of it taken out. */
function findings(redactor: Redactor, text: string): readonly Replacement[] {
  try {
    return redactor.find(text).map((finding) => {
      if (!isWithin(finding, text)) throw new RangeError('a finding lies outside of the text');
      return { start: finding.start, end: finding.end, text: markOf(finding.kind), isReference: false };
    });
  } catch {
    return [{ start: 0, end: text.length, text: markOf('undecided'), isReference: false }];
  }
}

function isWithin({ start, end }: Finding, { length }: string): boolean {
  return Number.isInteger(start) && Number.isInteger(end) && start >= 0 && start < end && end <= length;
}
