/**
 * The first places at which a text stands, also overlapping ones. Takes time in proportion to the two lengths (Knuth,
 * Morris and Pratt), where `indexOf` can take their product: a file and an `old_text` can be chosen to that end.
 *
 * @param wanted at least one character
 */
export function findPlaces(text: string, wanted: string, most: number): readonly number[] {
  const borders = bordersOf(wanted);
  const places: number[] = [];
  let matched = 0;
  for (let at = 0; at < text.length && places.length < most; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && wanted.charCodeAt(matched) !== unit) matched = borders[matched - 1] ?? 0;
    if (wanted.charCodeAt(matched) === unit) matched += 1;
    if (matched === wanted.length) {
      places.push(at - matched + 1);
      matched = borders[matched - 1] ?? 0;
    }
  }
  return places;
}

/** For each prefix: the length of its longest proper prefix that is also its suffix. */
function bordersOf(wanted: string): Uint32Array {
  const borders = new Uint32Array(wanted.length);
  let length = 0;
  for (let at = 1; at < wanted.length; at += 1) {
    const unit = wanted.charCodeAt(at);
    while (length > 0 && wanted.charCodeAt(length) !== unit) length = borders[length - 1] ?? 0;
    if (wanted.charCodeAt(length) === unit) length += 1;
    borders[at] = length;
  }
  return borders;
}
