import { execFile } from 'node:child_process';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isPerdureError, reasonOf, type SandboxIssue, type SandboxReport } from '@perdure/plugin-api';
import { architectureOf } from '../seccomp/system-calls.js';
import { processIdentity } from '../view/identity.js';
import { explainFailure } from './explain-failure.js';
import { isExecutable } from './program.js';
import { tryEnclosure } from './try-enclosure.js';

export interface Requirements {
  /** Absolute path of bwrap; `undefined` when it was not found. */
  readonly program: string | undefined;
  readonly readOnlyPaths: readonly string[];
}

/** Options that a bwrap must know, and that older ones do not: what is mounted is named by a descriptor. */
const OPTIONS = ['--bind-fd', '--ro-bind-fd', '--size', '--perms', '--disable-userns'];

const run = promisify(execFile);

/** Tries out whether commands can be closed in on this machine, the last step being to do it. Never throws. */
export async function preflight({ program, readOnlyPaths }: Requirements): Promise<SandboxReport> {
  const issues = missingIssues(program);
  if (issues.length > 0 || program === undefined) return { usable: false, issues };
  const old = await versionIssue(program);
  if (old !== undefined) return { usable: false, issues: [old] };
  let folder: string | undefined;
  try {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'perdure-sandbox-')));
    const found = await tryEnclosure({ program, folder, readOnlyPaths });
    return { usable: found.length === 0, issues: found };
  } catch (error) {
    return { usable: false, issues: [explainFailure(complaintOf(error))] };
  } finally {
    if (folder !== undefined) await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}

function complaintOf(error: unknown): string {
  return isPerdureError(error, 'PERDURE_SANDBOX_UNAVAILABLE') ? String(error.data['reason']) : reasonOf(error);
}

function missingIssues(program: string | undefined): readonly SandboxIssue[] {
  if (process.platform !== 'linux') {
    return [
      {
        code: 'unsupported_platform',
        message: `bubblewrap works on Linux only; this is ${process.platform}.`,
        fixes: ['Use the sandbox of this platform, or run the runtime on Linux.'],
      },
    ];
  }
  const issues: SandboxIssue[] = [];
  if (architectureOf(process.arch) === undefined) {
    issues.push({
      code: 'unsupported_architecture',
      message: `No filter of system calls is known for ${process.arch}.`,
      fixes: ['Run the runtime on x64 or arm64.'],
    });
  }
  if (program === undefined || !isExecutable(program)) issues.push(missing(program ?? 'bwrap', 'bubblewrap'));
  if (!isExecutable('/usr/bin/bash')) issues.push(missing('/usr/bin/bash', 'bash'));
  const isRoot = process.geteuid?.() === 0 && processIdentity().kind === 'dropped';
  if (isRoot && !isExecutable('/usr/bin/setpriv')) issues.push(missing('/usr/bin/setpriv', 'util-linux'));
  return issues;
}

function missing(program: string, name: string): SandboxIssue {
  return {
    code: 'missing_command',
    message: `The program ${program} is not there.`,
    fixes: [
      `On Debian and Ubuntu: apt-get install ${name}.`,
      `On Fedora: dnf install ${name}.`,
      `On Arch: pacman -S ${name}.`,
    ],
  };
}

async function versionIssue(program: string): Promise<SandboxIssue | undefined> {
  try {
    const [{ stdout: version }, { stdout: help }] = await Promise.all([
      run(program, ['--version'], { env: {}, timeout: 5_000 }),
      run(program, ['--help'], { env: {}, timeout: 5_000 }),
    ]);
    const unknown = OPTIONS.filter((option) => !help.includes(`${option} `));
    if (unknown.length === 0) return undefined;
    return {
      code: 'version_too_old',
      message: `${version.trim()} is too old: it does not know ${unknown.join(', ')}.`,
      fixes: [
        'Install bubblewrap 0.10 or newer.',
        'On Debian 12 and Ubuntu 24.04 the security updates of bubblewrap have what is needed: apt-get upgrade.',
      ],
    };
  } catch (error) {
    return {
      code: 'broken_command',
      message: `${program} does not tell its version: ${reasonOf(error)}.`,
      fixes: ['Install bubblewrap anew.'],
    };
  }
}
