const WIDTH = 16;
const POSITION = /^\d{16}$/;

/** Text of fixed width that sorts like the number. */
export function positionText(position: number): string {
  return String(position).padStart(WIDTH, '0');
}

/** The number that a text tells; `undefined` for a text that is no position of such a store. */
export function parsePosition(text: string): number | undefined {
  if (!POSITION.test(text)) return undefined;
  const position = Number(text);
  return Number.isSafeInteger(position) ? position : undefined;
}
