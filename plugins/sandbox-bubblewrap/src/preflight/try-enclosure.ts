import { readlinkSync } from 'node:fs';
import type { SandboxCommand, SandboxedProcess, SandboxIssue } from '@perdure/plugin-api';
import { holdPaths } from '../command/held-paths.js';
import { launch } from '../process/launch.js';
import { processIdentity } from '../view/identity.js';
import { systemView } from '../view/system-view.js';

export interface Enclosure {
  readonly program: string;
  /** A folder of this trial alone. */
  readonly folder: string;
  readonly readOnlyPaths: readonly string[];
}

const NAMESPACES = ['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts'];

/** Tells what a command is: its user, its namespaces, and whether it can gain rights or make system calls freely. */
const FACTS = `
echo "uid $UID"
for name in ${NAMESPACES.join(' ')}; do echo "$name $(readlink /proc/self/ns/$name)"; done
while read -r key value; do case $key in NoNewPrivs:|Seccomp:) echo "$key $value";; esac; done </proc/self/status
: >written && echo 'workspace written'
`;

/** A program that needs a second process. It fails with 125 when it gets none. */
const NEEDS_SECOND_PROCESS = ['/usr/bin/timeout', '5', '/usr/bin/true'];

/** Closes commands in and lets them tell what they are. An empty list when all is as it must be. */
export async function tryEnclosure(enclosure: Enclosure): Promise<readonly SandboxIssue[]> {
  const told = await outputOf(await start(enclosure, ['/usr/bin/bash', '-c', FACTS], 64));
  const lines = told.split('\n');
  const problems = [
    ...(lines.includes('uid 0') || !/^uid \d+$/m.test(told) ? ['it is root'] : []),
    ...NAMESPACES.filter((name) => !isOwn(name, lines)).map((name) => `it shares the ${name} namespace`),
    ...(lines.includes('NoNewPrivs: 1') ? [] : ['it can gain rights']),
    ...(lines.includes('Seccomp: 2') ? [] : ['its system calls are not filtered']),
    ...(lines.includes('workspace written') ? [] : ['it cannot write in its workspace']),
  ].map((problem) => notEnclosed(problem));
  if (problems.length > 0) return problems;
  const second = await start(enclosure, NEEDS_SECOND_PROCESS, 1);
  await outputOf(second);
  const { code } = await second.exit;
  return code === 0 ? [notEnclosed('its processes are not limited')] : [];
}

function isOwn(name: string, lines: readonly string[]): boolean {
  const line = lines.find((one) => one.startsWith(`${name} `));
  return line !== undefined && line.includes('[') && line !== `${name} ${readlinkSync(`/proc/self/ns/${name}`)}`;
}

async function start(
  { program, folder, readOnlyPaths }: Enclosure,
  argv: readonly string[],
  processes: number,
): Promise<SandboxedProcess> {
  const size = 256 * 1024 * 1024;
  const command: SandboxCommand = {
    argv,
    workspace: folder,
    workingDirectory: folder,
    environment: {},
    limits: { processes, memoryBytes: size, fileBytes: size, cpuSeconds: 10, temporaryBytes: size },
  };
  const held = await holdPaths(command);
  try {
    return await launch({ program, command, held, identity: processIdentity(), view: systemView(readOnlyPaths) });
  } finally {
    await held.close();
  }
}

async function outputOf({ stdout, stderr }: SandboxedProcess): Promise<string> {
  let text = '';
  const drained = (async () => {
    for await (const _ of stderr);
  })();
  for await (const chunk of stdout) text += Buffer.from(chunk).toString();
  await drained;
  return text;
}

function notEnclosed(problem: string): SandboxIssue {
  return {
    code: 'not_enclosed',
    message: `A command was not closed in as it must be: ${problem}.`,
    fixes: ['Use a newer kernel and bubblewrap, and run the runtime outside of restricted containers.'],
  };
}
