import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Runs a program in a folder and returns what it printed. Throws with all of its output when it fails. */
export async function run(folder: string, program: string, args: readonly string[]): Promise<string> {
  const env = { ...process.env, NX_DAEMON: 'false', FORCE_COLOR: '0', NODE_OPTIONS: '' };
  try {
    const { stdout } = await execute(program, [...args], { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${program} ${args.join(' ')} failed:\n${stdout ?? ''}\n${stderr ?? ''}`, { cause: error });
  }
}

/** Makes an empty package that tarballs can be installed into. */
export async function emptyPackage(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'package.json'), JSON.stringify({ name: 'host', private: true, type: 'module' }));
}

/**
 * Installs tarballs beside what package.json names. The packages of this repository are not on a registry: they are
 * taken from the tarballs because those have the very versions that the others ask for. What is not saved in
 * package.json is gone at the next installation.
 */
export async function install(
  folder: string,
  tarballs: readonly string[],
  options: { readonly isSaved: boolean },
): Promise<void> {
  const save = options.isSaved ? '--save' : '--no-save';
  const flags = [save, '--no-package-lock', '--no-audit', '--no-fund', '--prefer-offline'];
  await run(folder, 'npm', ['install', ...flags, ...tarballs]);
}

/** Runs a module as a program of the package in the folder, with its imports, and returns the JSON that it prints. */
export async function runModule(folder: string, name: string, text: string): Promise<unknown> {
  const file = join(folder, name);
  await writeFile(file, text);
  return JSON.parse(await run(folder, process.execPath, [file])) as unknown;
}
