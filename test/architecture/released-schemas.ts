import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonValue } from '@perdure/events';
import { SCHEMAS } from './event-schemas.js';
import type { Pin } from './exported-names.js';
import type { SchemaSet } from './schema-breaks.js';
import { paths, projects, readText, root } from './workspace.js';

const FOLDER = 'test/architecture/released';
const FILE = /^test\/architecture\/released\/schemas-(\d+)\.(\d+)\.(\d+)\.json$/;

export interface ReleasedSchemas {
  readonly version: string;
  readonly schemas: SchemaSet;
}

/** The schemas that the last release of `@perdure/events` had. */
export function lastRelease(): ReleasedSchemas {
  const versions = paths.flatMap((path) => {
    const found = FILE.exec(path);
    return found === null ? [] : [{ path, numbers: found.slice(1).map(Number) }];
  });
  const last = versions.sort((a, b) => byNumbers(a.numbers, b.numbers)).at(-1);
  if (last === undefined) throw new Error(`There are no schemas of a release in ${FOLDER}.`);
  return { version: last.numbers.join('.'), schemas: JSON.parse(readText(last.path)) as SchemaSet };
}

/** The schemas as they are in the work tree. */
export function currentSchemas(): SchemaSet {
  const names = readdirSync(join(root, SCHEMAS), { encoding: 'utf8', recursive: true }).filter((name) =>
    name.endsWith('.json'),
  );
  const slashed = names.map((name) => name.replaceAll('\\', '/')).sort();
  return Object.fromEntries(slashed.map((name) => [name, JSON.parse(readText(`${SCHEMAS}/${name}`)) as JsonValue]));
}

/** The schemas of the release that the manifest names, to be kept. Throws when they are kept already. */
export function releasePin(): Pin {
  const version = projects.find(({ manifest }) => manifest.name === '@perdure/events')?.manifest.version ?? '';
  const path = `${FOLDER}/schemas-${version}.json`;
  if (paths.includes(path)) throw new Error(`The schemas of ${version} are frozen: raise the version first.`);
  // One line for each schema.
  const lines = Object.entries(currentSchemas()).map(
    ([name, schema]) => `${JSON.stringify(name)}:${JSON.stringify(schema)}`,
  );
  return { path, text: `{\n${lines.join(',\n')}\n}\n` };
}

function byNumbers(one: readonly number[], other: readonly number[]): number {
  for (const [index, number] of one.entries()) {
    const difference = number - (other[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
