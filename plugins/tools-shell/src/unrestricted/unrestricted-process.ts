import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { reasonOf, type SandboxedProcess, type SandboxExit } from '@perdure/plugin-api';
import { shellFailure } from '../failure.js';
import { killMarked } from './marked-processes.js';

export interface UnrestrictedCommand {
  readonly argv: readonly string[];
  readonly workingDirectory: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Every process of a command has this variable, unless one gives itself another environment. */
export const MARK = 'PERDURE_CALL_ID';

/** Runs a command as the user of the runtime, with all that this user can do. It sees no more of the environment. */
export async function startUnrestricted(command: UnrestrictedCommand): Promise<SandboxedProcess> {
  const [program = '', ...args] = command.argv;
  const mark = randomUUID();
  const child = spawn(program, args, {
    cwd: command.workingDirectory,
    env: { ...usualEnvironment(), ...command.environment, [MARK]: mark },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own, to be ended as one.
    detached: true,
  });
  await once(child, 'spawn').catch((error: unknown) => {
    throw shellFailure('start_failed', `The command could not be started: ${reasonOf(error)}.`, error);
  });
  const exit = once(child, 'exit').then(([code, signal]) => ({ code, signal }) as SandboxExit);
  const kill = async (): Promise<void> => {
    killGroup(child);
    await killMarked(`${MARK}=${mark}`);
    await exit;
  };
  return { stdout: child.stdout, stderr: child.stderr, exit, kill };
}

function usualEnvironment(): Readonly<Record<string, string>> {
  const { PATH, HOME, TMPDIR } = process.env;
  return {
    PATH: PATH ?? '/usr/local/bin:/usr/bin:/bin',
    LANG: 'C.UTF-8',
    ...(HOME === undefined ? {} : { HOME }),
    ...(TMPDIR === undefined ? {} : { TMPDIR }),
  };
}

function killGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of the group is left.
  }
}
