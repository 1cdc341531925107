import type { Pin } from './exported-names.js';
import { published } from './workspace.js';

/**
 * The version of each plugin as a constant of its source: a program may be bundled, and is not beside its manifest
 * then.
 */
export function versionPins(): readonly Pin[] {
  return published
    .filter(({ folder }) => folder.startsWith('plugins/'))
    .map(({ folder, manifest }) => ({ path: `${folder}/src/version.ts`, text: versionSource(manifest.version) }));
}

function versionSource(version: string): string {
  return `/** Written by \`npm run pins\` from package.json. */\nexport const version = '${version}';\n`;
}
