import { readFileSync } from 'node:fs';
import type { SandboxIssue } from '@perdure/plugin-api';

interface Switch {
  readonly path: string;
  /** The value with which it keeps sandboxes from being made. */
  readonly off: string;
  readonly fix: string;
}

/** Settings of systems that take user namespaces away. */
const SWITCHES: readonly Switch[] = [
  {
    path: '/proc/sys/user/max_user_namespaces',
    off: '0',
    fix: 'Allow user namespaces: sysctl -w user.max_user_namespaces=15000.',
  },
  {
    path: '/proc/sys/kernel/unprivileged_userns_clone',
    off: '0',
    fix: 'Allow user namespaces to all users: sysctl -w kernel.unprivileged_userns_clone=1.',
  },
  {
    path: '/proc/sys/kernel/apparmor_restrict_unprivileged_userns',
    off: '1',
    fix: 'Give bwrap an AppArmor profile that allows userns, as the package apparmor-profiles has one.',
  },
];

const IN_CONTAINER = 'In a container, allow user namespaces and mounts: a seccomp profile with unshare and mount.';

/** An issue from what bwrap said before it gave up. */
export function explainFailure(reason: string, read: (path: string) => string | undefined = readSetting): SandboxIssue {
  const off = SWITCHES.filter(({ path, off: value }) => read(path) === value);
  if (off.length > 0 && /namespace|Operation not permitted|Permission denied|No space left/i.test(reason)) {
    return {
      code: 'user_namespaces_disabled',
      message: `This system allows no user namespaces: ${reason}`,
      fixes: off.map(({ fix }) => fix),
    };
  }
  return {
    code: 'enclosure_failed',
    message: `A command could not be closed in: ${reason}`,
    fixes: [IN_CONTAINER, ...SWITCHES.map(({ fix }) => fix)],
  };
}

function readSetting(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}
