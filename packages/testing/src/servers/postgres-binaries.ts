import { accessSync, constants, readdirSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';

/** Where Debian keeps the programs of each version. */
const DEBIAN = '/usr/lib/postgresql';

/** The folder with `initdb` and `postgres`. Throws an error that says what to install. */
export function postgresBinaries(environment: NodeJS.ProcessEnv = process.env): string {
  const folders = [...versionsOf(DEBIAN), ...(environment['PATH'] ?? '').split(delimiter)];
  const found = folders.find((folder) => ['initdb', 'postgres'].every((name) => isProgram(join(folder, name))));
  if (found !== undefined) return found;
  throw new Error(
    `There is no PostgreSQL on this machine: neither in ${dirname(join(DEBIAN, '*', 'bin'))} nor in PATH. Install it ` +
      '(on Debian: apt-get install postgresql), or set PERDURE_POSTGRES_URL to a server that tests may use.',
  );
}

/** The newest version first. */
function versionsOf(folder: string): string[] {
  try {
    const versions = readdirSync(folder).filter((name) => Number.isFinite(Number(name)));
    return versions.sort((a, b) => Number(b) - Number(a)).map((version) => join(folder, version, 'bin'));
  } catch {
    // No such folder: another system, or nothing was installed.
    return [];
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
