const HEX = '[0-9a-fA-F]';
const ESCAPES = new RegExp(
  [
    `\\\\u\\{(${HEX}{1,6})\\}`,
    `\\\\u(${HEX}{4})`,
    `\\\\x(${HEX}{2})`,
    `\\\\([0-3][0-7]{2})`,
    `\\\\(["'\\\\/\`bfnrtv$0])`,
    `%(${HEX}{2})`,
    `&#[xX](${HEX}{1,6});`,
    `&#([0-9]{1,7});`,
    '&(amp|lt|gt|quot|apos|colon|equals|sol|bsol|plus|num|commat|lowbar|hyphen|period|Tab|NewLine);',
  ].join('|'),
  'g',
);

const LETTERS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', 0: '\0' };
const ENTITIES: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", colon: ':', equals: '=', sol: '/', bsol: '\\' },
  ...{ plus: '+', num: '#', commat: '@', lowbar: '_', hyphen: '-', period: '.', Tab: '\t', NewLine: '\n' },
};

/** A text made from another, and for each of its characters and its end the place in the other. */
export interface MappedText {
  readonly text: string;
  readonly places: Int32Array;
}

/**
 * A text with its escapes of JSON, JavaScript, URLs and HTML resolved once; `undefined` when it has none. Escapes
 * within escapes need it again.
 */
export function unescaped(text: string): MappedText | undefined {
  if (!/[\\%&]/.test(text)) return undefined;
  const pieces: string[] = [];
  const places = new Int32Array(text.length + 1);
  let length = 0;
  let from = 0;
  const copy = (until: number): void => {
    if (until > from) pieces.push(text.slice(from, until));
    for (let at = from; at < until; at++) places[length++] = at;
  };
  for (const match of text.matchAll(ESCAPES)) {
    const character = characterOf(match);
    if (character === undefined) continue;
    copy(match.index);
    pieces.push(character);
    for (let unit = 0; unit < character.length; unit++) places[length++] = match.index;
    from = match.index + match[0].length;
  }
  if (from === 0) return undefined;
  copy(text.length);
  places[length] = text.length;
  return { text: pieces.join(''), places: places.subarray(0, length + 1) };
}

function characterOf([, braced, four, two, octal, letter, percent, hexEntity, entity, named]: RegExpMatchArray) {
  if (letter !== undefined) return LETTERS[letter] ?? letter;
  if (named !== undefined) return ENTITIES[named];
  if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
  const code =
    entity === undefined
      ? Number.parseInt(braced ?? four ?? two ?? percent ?? hexEntity ?? '', 16)
      : Number.parseInt(entity, 10);
  return code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}
