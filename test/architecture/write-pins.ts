/** Rewrites everything that is made from the sources and kept beside them: `npm run pins`. Tests compare it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { schemaPins } from './event-schemas.js';
import { ERROR_PAGE, errorPage } from './error-page.js';
import { exportPins, type Pin } from './exported-names.js';
import { versionPins } from './plugin-versions.js';
import { root } from './workspace.js';

const pins: readonly Pin[] = [
  ...exportPins(),
  ...schemaPins(),
  ...versionPins(),
  { path: ERROR_PAGE, text: errorPage() },
];
for (const { path, text } of pins) {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
console.log(`${pins.length} files written.`);
