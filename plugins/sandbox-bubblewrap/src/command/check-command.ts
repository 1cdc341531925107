import { isAbsolute, normalize } from 'node:path';
import { PerdureError, type SandboxCommand } from '@perdure/plugin-api';

/** The kernel takes no longer argument. */
const LONGEST_ARGUMENT = 128 * 1024 - 1;
/** A workspace must not take the place of one of these, nor of what they are in. */
const OCCUPIED = ['/bin', '/dev', '/etc', '/lib', '/lib64', '/proc', '/sbin', '/tmp', '/usr'];
/** What is below these belongs to the kernel. */
const KERNEL = ['/dev', '/proc', '/sys'];

/** Throws PERDURE_INPUT_INVALID or PERDURE_SANDBOX_PATH for a command that is wrong by its text alone. */
export function checkCommand({ argv, workspace, workingDirectory, environment, limits, hidden }: SandboxCommand): void {
  if (argv.length === 0) throw invalid('argv', 'it is empty');
  for (const argument of argv) {
    if (argument.includes('\0')) throw invalid('argv', 'an argument contains a NUL character');
    if (Buffer.byteLength(argument) > LONGEST_ARGUMENT) {
      throw invalid('argv', `an argument has more than ${LONGEST_ARGUMENT} bytes`);
    }
  }
  for (const [name, value] of Object.entries(environment)) checkVariable(name, value);
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1) throw invalid(`limits.${name}`, 'it is not a positive integer');
  }
  checkPath('workspace', workspace);
  if (OCCUPIED.some((place) => isWithin(workspace, place)) || KERNEL.some((place) => isWithin(place, workspace))) {
    throw refusedPath(workspace, 'no workspace can be there');
  }
  checkPath('workingDirectory', workingDirectory);
  if (!isWithin(workspace, workingDirectory)) throw refusedPath(workingDirectory, 'it is not in the workspace');
  for (const path of hidden ?? []) {
    checkPath('hidden', path);
    if (path === workspace || !isWithin(workspace, path)) throw refusedPath(path, 'it is not in the workspace');
  }
}

/** Whether a path is a folder or below it. */
export function isWithin(folder: string, path: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

export function refusedPath(path: string, reason: string, cause?: unknown): PerdureError {
  return new PerdureError('PERDURE_SANDBOX_PATH', { path, reason }, { cause });
}

function checkPath(field: string, path: string): void {
  if (!isAbsolute(path) || normalize(path) !== path || (path.length > 1 && path.endsWith('/')) || path.includes('\0')) {
    throw invalid(field, 'it is not a normalised absolute path');
  }
}

function checkVariable(name: string, value: string): void {
  const field = `environment.${name}`;
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw invalid('environment', 'a name has letters, digits and "_"');
  // The loader would follow these before the command has lost the last of its rights.
  if (name.startsWith('LD_')) throw invalid(field, 'variables of the loader are not handed in');
  if (value.includes('\0')) throw invalid(field, 'it contains a NUL character');
}

function invalid(field: string, reason: string): PerdureError {
  return new PerdureError('PERDURE_INPUT_INVALID', { field, reason });
}
