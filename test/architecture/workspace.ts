import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** Absolute path of the repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** A file of the repository: its path from the root, with slashes, and its text. */
export interface WorkspaceFile {
  readonly path: string;
  readonly text: string;
}

const names = z.record(z.string(), z.string()).optional();
const manifest = z.looseObject({
  name: z.string(),
  version: z.string(),
  private: z.boolean().optional(),
  dependencies: names,
  devDependencies: names,
  peerDependencies: names,
  engines: names,
  exports: z.record(z.string(), z.unknown()).optional(),
});
export type Manifest = z.output<typeof manifest>;

/** A package of this repository. `folder` is its path from the root. */
export interface Project {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Every file that is or would be committed. Git knows what is ignored, so nothing that a build made is among them. */
export const paths: readonly string[] = execFileSync(
  'git',
  ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
  { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 },
)
  .split('\0')
  .filter((path) => path !== '' && existsSync(join(root, path)));

export function readText(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

/** The files whose path matches, with their texts. */
export function files(pattern: RegExp): readonly WorkspaceFile[] {
  return paths.filter((path) => pattern.test(path)).map((path) => ({ path, text: readText(path) }));
}

export const rootManifest: Manifest = manifest.parse(JSON.parse(readText('package.json')));

export const projects: readonly Project[] = paths
  .filter((path) => /^(?:(?:packages|plugins|tools)\/[^/]+|test)\/package\.json$/.test(path))
  .map((path) => ({ folder: dirname(path), manifest: manifest.parse(JSON.parse(readText(path))) }));

/** The packages that are published. */
export const published: readonly Project[] = projects.filter(({ manifest: { private: isPrivate } }) => !isPrivate);

/** The project that a path belongs to. */
export function projectOf(path: string): Project | undefined {
  return projects.find(({ folder }) => path.startsWith(`${folder}/`));
}

/** Code that only tests run: it may import what the packages themselves may not. */
export function isTestCode(path: string): boolean {
  return /\.(?:test|fixture)\.ts$/.test(path) || /^plugins\/[^/]+\/src\/testing\//.test(path);
}
