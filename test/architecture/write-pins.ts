/**
 * Rewrites everything that is made from the sources and kept beside them: `npm run pins`. Tests compare it. With
 * `-- --release` it also keeps the schemas as those of the release that the manifest names.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asyncApiPin } from './async-api.js';
import { schemaPins } from './event-schemas.js';
import { ERROR_PAGE, errorPage } from './error-page.js';
import { exportPins, type Pin } from './exported-names.js';
import { versionPins } from './plugin-versions.js';
import { releasePin } from './released-schemas.js';
import { wireMapPin } from './wire-map.js';
import { root } from './workspace.js';

const pins: readonly Pin[] = [
  ...exportPins(),
  ...schemaPins(),
  asyncApiPin(),
  wireMapPin(),
  ...versionPins(),
  { path: ERROR_PAGE, text: errorPage() },
];
for (const pin of pins) write(pin);
// Of what has just been written.
if (process.argv.includes('--release')) write(releasePin());
console.log(`${pins.length} files written.`);

function write({ path, text }: Pin): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
