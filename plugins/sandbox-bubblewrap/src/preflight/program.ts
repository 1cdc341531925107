import { accessSync, constants } from 'node:fs';

/**
 * PATH is not asked: `npm run` and others put folders of a workspace into it, where a command could leave a program
 * of that name for the runtime to run.
 */
const FOLDERS = ['/usr/bin', '/usr/local/bin', '/bin', '/run/current-system/sw/bin', '/run/wrappers/bin'];

export function findProgram(): string | undefined {
  return FOLDERS.map((folder) => `${folder}/bwrap`).find(isExecutable);
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
