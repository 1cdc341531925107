/**
 * What could hide in a text of an untrusted server, but for tabs and line ends: control characters, signs that turn the
 * direction of writing, signs without width, and tags that models read and people do not see.
 */
const HIDDEN = new RegExp(
  [
    '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u2028-\\u202e]',
    '[\\u2060-\\u206f\\u3164\\ufe00-\\ufe0f\\ufeff\\ufff9-\\ufffb]',
    '[\\u{e0000}-\\u{e0fff}]',
  ].join('|'),
  'gu',
);

/** Half a surrogate pair. */
const HALF = /\p{Surrogate}/gu;

/** A text of a server without what could hide in it, and no longer than allowed. */
export function safeText(text: string, longest: number): string {
  const clean = text
    .slice(0, longest * 4)
    .replace(/\r\n?/g, '\n')
    .replace(HIDDEN, '')
    .replace(HALF, '\ufffd');
  return clean.length <= longest ? clean : `${clean.slice(0, longest).replace(HALF, '')} […]`;
}

/** The same on one line, for reasons and names. */
export function safeLine(text: string, longest: number): string {
  return safeText(text, longest).replace(/\s+/g, ' ').trim();
}
