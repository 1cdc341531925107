const LONGEST = 512;
/** Repetitions without an end that one pattern may have: with each more, time grows by another power. */
const MOST_REPETITIONS = 4;

/**
 * Whether a regular expression is none, or one that can take for ever: a repetition of what repeats or has choices
 * itself, many repetitions beside each other, or a reference back. It errs on the safe side.
 */
export function isHostilePattern(pattern: string): boolean {
  if (pattern.length > LONGEST || !isExpression(pattern)) return true;
  /** For each open group, whether something in it repeats or is a choice. */
  const groups: boolean[] = [false];
  let repetitions = 0;
  let last = false;
  for (let at = 0; at < pattern.length; at++) {
    const sign = pattern.charAt(at);
    if (sign === '\\') {
      if (/[1-9k]/.test(pattern.charAt(at + 1))) return true;
      at += 1;
      last = false;
    } else if (sign === '[') {
      at = endOfClass(pattern, at);
      last = false;
    } else if (sign === '(') {
      groups.push(false);
    } else if (sign === ')') {
      last = groups.pop() ?? false;
      if (last) mark(groups);
    } else if (sign === '|') {
      mark(groups);
    } else {
      const repetition = /^(?:[*+]|\{\d*,\}|\{(?:\d*,)?(\d+)\})/.exec(pattern.slice(at));
      if (repetition === null) {
        last = false;
        continue;
      }
      const isLong = repetition[1] === undefined || Number(repetition[1]) > 1_000;
      if (last) return true;
      if (isLong && (repetitions += 1) > MOST_REPETITIONS) return true;
      mark(groups);
      at += repetition[0].length - 1;
      last = false;
    }
  }
  return false;
}

function mark(groups: boolean[]): void {
  groups[groups.length - 1] = true;
}

function endOfClass(pattern: string, from: number): number {
  for (let at = from + 1; at < pattern.length; at++) {
    if (pattern.charAt(at) === '\\') at += 1;
    else if (pattern.charAt(at) === ']') return at;
  }
  return pattern.length;
}

function isExpression(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
