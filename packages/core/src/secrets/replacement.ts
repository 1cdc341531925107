/** A piece of a text that must not be shown, and what is shown in its place. */
export interface Replacement {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Whether it is a registered secret's reference: what it covers needs no other mark. */
  readonly isReference: boolean;
}

/** Replacements that do not overlap, in the order of the text. What overlaps becomes one. */
export function merged(replacements: readonly Replacement[]): readonly Replacement[] {
  if (replacements.length < 2) return replacements;
  const sorted = replacements.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const result: Replacement[] = [];
  for (const next of sorted) {
    const last = result.at(-1);
    if (last === undefined || next.start >= last.end) result.push(next);
    else result[result.length - 1] = joined(last, next);
  }
  return result;
}

function joined(a: Replacement, b: Replacement): Replacement {
  const start = Math.min(a.start, b.start);
  const end = Math.max(a.end, b.end);
  const whole = [a, b].find((each) => each.isReference && each.start === start && each.end === end);
  if (whole !== undefined) return whole;
  const isSame = a.isReference === b.isReference;
  const longer = b.end - b.start > a.end - a.start ? b : a;
  return { ...(isSame ? longer : a.isReference ? b : a), start, end };
}

/** A text with its replacements. They must be merged. */
export function applied(text: string, replacements: readonly Replacement[]): string {
  if (replacements.length === 0) return text;
  let result = '';
  let from = 0;
  for (const { start, end, text: shown } of replacements) {
    result += text.slice(from, start) + shown;
    from = end;
  }
  return result + text.slice(from);
}
