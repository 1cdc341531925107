import { invalidInput } from '@perdure/plugin-api/store-input';

/** Bytes that file systems take as a name, less what a suffix and a temporary file need. */
const LONGEST = 200;

/**
 * The name of a key's file, without its suffix. Lower-case letters, digits, dashes and underscores stay, and so do dots
 * that are not first; every other byte of the UTF-8 form becomes `%xx`. Capitals are among those, so that two keys have
 * two files where the file system does not tell them apart.
 */
export function fileName(key: string): string {
  const name = Array.from(Buffer.from(key), (byte, index) => {
    const character = String.fromCharCode(byte);
    const stays = /[a-z0-9_-]/.test(character) || (character === '.' && index > 0);
    return stays ? character : `%${byte.toString(16).padStart(2, '0')}`;
  }).join('');
  if (name.length > LONGEST) throw invalidInput('key', `its file name would have more than ${LONGEST} bytes`);
  return name;
}

/** The key of a file name; `undefined` for a name that `fileName` did not make. */
export function keyOf(name: string): string | undefined {
  if (!/^(?:[a-z0-9_.-]|%[0-9a-f]{2})+$/.test(name)) return undefined;
  const bytes = name.replace(/%([0-9a-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
  const key = Buffer.from(bytes, 'latin1').toString();
  return Buffer.byteLength(key) <= LONGEST && fileName(key) === name ? key : undefined;
}
