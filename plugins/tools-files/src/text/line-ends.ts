/** A text with LF alone, and the way back to the places in the original. */
export interface LineEnds {
  readonly text: string;
  /** The place in the original of a place in `text`. */
  originalPlace(place: number): number;
  /** The line end that new lines get in place of `text.slice(start, end)`. */
  lineEndFor(start: number, end: number): '\n' | '\r\n';
}

export function toLineFeeds(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** Takes CR LF for one line end, so that texts can be compared whatever the line ends of a file. */
export function lineEndsOf(original: string): LineEnds {
  const text = toLineFeeds(original);
  const pairs = pairPlaces(original, original.length - text.length);
  const pairsBefore = (place: number): number => countBelow(pairs, place);
  const prefersPairs = pairs.length > 0 && pairs.length * 2 > countFeeds(text);
  return {
    text,
    originalPlace: (place) => place + pairsBefore(place),
    lineEndFor: (start, end) => {
      if (pairs.length === 0) return '\n';
      const feeds = countFeeds(text.slice(start, end));
      const own = pairsBefore(end) - pairsBefore(start);
      if (feeds > 0 && own === feeds) return '\r\n';
      if (feeds > 0 && own === 0) return '\n';
      return prefersPairs ? '\r\n' : '\n';
    },
  };
}

/** Where, in the text with LF alone, the LF stands for CR LF. */
function pairPlaces(original: string, count: number): Uint32Array {
  const places = new Uint32Array(count);
  let at = original.indexOf('\r\n');
  for (let index = 0; index < count; index += 1) {
    places[index] = at - index;
    at = original.indexOf('\r\n', at + 2);
  }
  return places;
}

function countFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function countBelow(sorted: Uint32Array, limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] ?? 0) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
