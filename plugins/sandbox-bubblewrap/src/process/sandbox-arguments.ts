import type { SandboxCommand } from '@perdure/plugin-api';
import type { HeldPaths } from '../command/held-paths.js';
import type { Identity } from '../view/identity.js';
import { HOME } from '../view/private-files.js';
import type { SystemView } from '../view/system-view.js';

/** Numbers of descriptors as bwrap has them. */
export interface Descriptors {
  readonly status: number;
  /** Where bwrap waits for the maps of ids to be written. */
  readonly mapped: number;
  readonly filter: number;
  /** By path: files that the sandbox has of its own, and folders that are held. */
  readonly files: ReadonlyMap<string, number>;
  readonly folders: ReadonlyMap<string, number>;
}

export interface SandboxPlan {
  readonly command: Pick<SandboxCommand, 'workingDirectory' | 'environment' | 'readOnly' | 'limits'>;
  readonly held: Omit<HeldPaths, 'close'>;
  readonly identity: Identity;
  readonly view: SystemView;
}

/** What a command keeps when it is not the user of the runtime: see DroppedIdentity. */
export const KEPT_CAPABILITIES = ['dac_override', 'fowner'];
/** What it takes to become another user, which is given up by doing so. */
const DROPPING_CAPABILITIES = ['setuid', 'setgid', 'setpcap'];

/** Shared memory of programs that need it, such as browsers; as much as containers usually have. */
const MOST_SHARED_BYTES = 64 * 1024 * 1024;

/** The options of bwrap, in the order in which it mounts. They go by a descriptor, so that `ps` shows none. */
export function sandboxArguments(plan: SandboxPlan, descriptors: Descriptors): readonly string[] {
  const { command, held, view } = plan;
  const { temporaryBytes } = command.limits;
  return [
    '--unshare-all',
    ...identityArguments(plan.identity, descriptors),
    '--die-with-parent',
    '--new-session',
    ...['--hostname', 'sandbox'],
    ...['--info-fd', String(descriptors.status)],
    ...['--seccomp', String(descriptors.filter)],
    ...environmentArguments(command.environment),
    ...['--perms', '0755', '--dir', '/etc'],
    ...view.readOnly.filter((path) => !path.startsWith('/tmp/')).flatMap(readOnlyPath),
    ...view.links.flatMap(([path, target]) => ['--symlink', target, path]),
    ...[...descriptors.files].flatMap(([path, fd]) => ['--perms', '0444', '--ro-bind-data', String(fd), path]),
    ...['--proc', '/proc'],
    ...view.maskedFiles.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...view.maskedFolders.flatMap(emptyFolder),
    ...['--dev', '/dev'],
    ...temporaryFolder('/dev/shm', Math.min(temporaryBytes, MOST_SHARED_BYTES)),
    ...['--remount-ro', '/dev'],
    ...temporaryFolder('/tmp', temporaryBytes),
    // The folder that commands have there would hide them.
    ...view.readOnly.filter((path) => path.startsWith('/tmp/')).flatMap(readOnlyPath),
    ...['--perms', '0777', '--dir', HOME],
    ...['--dir', '/run', '--dir', '/var', '--symlink', '/tmp', '/var/tmp'],
    ...workspaceArguments(plan, descriptors),
    ...held.hiddenFolders.flatMap(emptyFolder),
    ...held.hiddenFiles.flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...['--remount-ro', '/'],
    ...['--chdir', command.workingDirectory],
  ];
}

function identityArguments(identity: Identity, { mapped }: Descriptors): readonly string[] {
  if (identity.kind === 'own') {
    return ['--unshare-user', '--disable-userns', '--uid', String(identity.uid), '--gid', String(identity.gid)];
  }
  const capabilities = [...KEPT_CAPABILITIES, ...DROPPING_CAPABILITIES];
  return [
    ...['--unshare-user', '--userns-block-fd', String(mapped)],
    ...['--cap-drop', 'ALL'],
    ...capabilities.flatMap((name) => ['--cap-add', `CAP_${name.toUpperCase()}`]),
  ];
}

function environmentArguments(environment: Readonly<Record<string, string>>): readonly string[] {
  const usual = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME, TMPDIR: '/tmp', LANG: 'C.UTF-8' };
  const all = Object.entries({ ...usual, ...environment });
  return ['--clearenv', ...all.flatMap(([name, value]) => ['--setenv', name, value])];
}

function workspaceArguments({ command, held }: SandboxPlan, { folders }: Descriptors): readonly string[] {
  const bind = command.readOnly === true ? '--ro-bind-fd' : '--bind-fd';
  const mounts = [held.workspace, ...held.pinned].flatMap(({ path }) => [bind, String(folders.get(path)), path]);
  return [...parentsOf(held.workspace.path).flatMap((path) => ['--perms', '0755', '--dir', path]), ...mounts];
}

/** Outermost first, without the root. bwrap would make them for itself alone. */
function parentsOf(path: string): readonly string[] {
  const names = path.split('/').slice(1, -1);
  return names.map((_, index) => `/${names.slice(0, index + 1).join('/')}`);
}

function temporaryFolder(path: string, bytes: number): readonly string[] {
  return ['--perms', '1777', '--size', String(bytes), '--tmpfs', path];
}

function readOnlyPath(path: string): readonly string[] {
  return ['--ro-bind', path, path];
}

function emptyFolder(path: string): readonly string[] {
  return ['--perms', '0555', '--size', '4096', '--tmpfs', path, '--remount-ro', path];
}
