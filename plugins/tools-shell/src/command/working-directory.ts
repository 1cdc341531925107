import { lstat } from 'node:fs/promises';
import { posix } from 'node:path';
import { cutText } from '@perdure/plugin-api';
import { shellFailure } from '../failure.js';

/**
 * The absolute path of a folder in the workspace. Links are refused at every component: inside the sandbox they could
 * lead nowhere, and outside of it they would lead out of the workspace.
 */
export async function workingDirectory(workspace: string, given: string): Promise<string> {
  const quoted = JSON.stringify(given.length > 300 ? `${cutText(given, 300)}…` : given);
  if (given === '' || given.includes('\0') || given.length > 4096) {
    throw shellFailure('invalid_path', `${quoted} is not a path.`);
  }
  const path = posix.resolve(workspace, given);
  const relative = posix.relative(workspace, path);
  if (relative === '..' || relative.startsWith('../')) {
    throw shellFailure('sandbox_denied', `${quoted} is outside the workspace.`);
  }
  let place = workspace;
  for (const segment of ['.', ...relative.split('/')].filter((one) => one !== '')) {
    place = posix.join(place, segment);
    await requireFolder(place, quoted);
  }
  return place;
}

async function requireFolder(path: string, quoted: string): Promise<void> {
  const found = await lstat(path).catch((error: unknown) => {
    throw shellFailure('path_not_found', `${quoted} does not exist.`, error);
  });
  if (found.isSymbolicLink()) {
    throw shellFailure('sandbox_denied', `${quoted} cannot be used: links are not followed.`);
  }
  if (!found.isDirectory()) throw shellFailure('not_a_directory', `${quoted} is not a folder.`);
}
