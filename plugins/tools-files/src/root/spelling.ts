import { childPath, type Directory } from './directory.js';
import { hasSystemCode, systemError } from './system-error.js';

/**
 * File systems that take several spellings for one name would let a path slip past permission rules, so only the
 * spelling on disk is taken. They give themselves away by finding the name in the other letter case as well.
 *
 * @throws SystemError `ESPELLING`
 */
export async function requireSpelling(directory: Directory, name: string): Promise<void> {
  const flipped = flipCase(name);
  if (flipped === name || !(await isSameEntry(directory, name, flipped))) return;
  const names = (await directory.entries()).map((entry) => entry.name.toString('utf8'));
  // A hard link in the other letter case is a name of its own.
  if (names.includes(name)) return;
  const actual = names.find((candidate) => fold(candidate) === fold(name)) ?? name;
  throw systemError('ESPELLING', childPath(directory.path, actual));
}

async function isSameEntry(directory: Directory, name: string, other: string): Promise<boolean> {
  try {
    const found = await directory.look(other);
    const own = await directory.look(name);
    return found.ino === own.ino && found.dev === own.dev;
  } catch (error) {
    if (hasSystemCode(error, 'ENOENT', 'ENAMETOOLONG')) return false;
    throw error;
  }
}

function flipCase(name: string): string {
  return [...name]
    .map((character) => (isUpper(character) ? character.toLowerCase() : character.toUpperCase()))
    .join('');
}

function isUpper(character: string): boolean {
  return character !== character.toLowerCase();
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase();
}
