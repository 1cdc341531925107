const MOST_ALTERNATIVES = 64;

/**
 * Writes out `{a,b}` and nested ones. A pair of braces without a comma, and one that does not end, stand for
 * themselves.
 *
 * @throws SyntaxError when there are more than 64 alternatives
 */
export function expandBraces(pattern: string): readonly string[] {
  const done: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = firstGroup(next);
    if (group === undefined) done.push(next);
    else {
      const { start, end, choices } = group;
      for (const choice of choices) waiting.push(next.slice(0, start) + choice + next.slice(end + 1));
    }
    if (done.length + waiting.length > MOST_ALTERNATIVES) {
      throw new SyntaxError(`the braces stand for more than ${MOST_ALTERNATIVES} patterns`);
    }
  }
  return done.reverse();
}

interface Group {
  readonly start: number;
  readonly end: number;
  readonly choices: readonly string[];
}

/** The first pair of braces that encloses a comma of its own. */
function firstGroup(pattern: string): Group | undefined {
  for (let start = pattern.indexOf('{'); start !== -1; start = pattern.indexOf('{', start + 1)) {
    const group = groupAt(pattern, start);
    if (group !== undefined) return group;
  }
  return undefined;
}

function groupAt(pattern: string, start: number): Group | undefined {
  const choices: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start; at < pattern.length; at += 1) {
    const character = pattern[at];
    if (character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    if (depth === 0) {
      choices.push(pattern.slice(from, at));
      return choices.length > 1 ? { start, end: at, choices } : undefined;
    }
    if (character === ',' && depth === 1) {
      choices.push(pattern.slice(from, at));
      from = at + 1;
    }
  }
  return undefined;
}
