import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** The version of this package, which is that of all packages of the framework. */
export function ownVersion(): string {
  const manifest = new URL('../../package.json', import.meta.url);
  return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(manifest, 'utf8'))).version;
}
