import { describe, expect, test } from 'vitest';
import { launcherWords } from './launcher.js';
import { sandboxArguments, type SandboxPlan } from './sandbox-arguments.js';

const limits = { processes: 5, memoryBytes: 4096, fileBytes: 2048, cpuSeconds: 3, temporaryBytes: 1000 };
const plan: SandboxPlan = {
  command: { workingDirectory: '/w/sub', environment: { A: 'b', HOME: '/w' }, limits },
  held: {
    workspace: { path: '/w', descriptor: 40 },
    pinned: [{ path: '/w/app', descriptor: 41 }],
    hiddenFolders: ['/w/app/.state'],
    hiddenFiles: ['/w/.env'],
  },
  identity: { kind: 'own', uid: 1000, gid: 1001 },
  view: {
    readOnly: ['/usr'],
    links: [['/bin', 'usr/bin']],
    maskedFiles: ['/proc/kcore'],
    maskedFolders: ['/proc/acpi'],
  },
};
const descriptors = {
  status: 4,
  mapped: 5,
  filter: 6,
  files: new Map([['/etc/passwd', 8]]),
  folders: new Map([
    ['/w', 9],
    ['/w/app', 10],
  ]),
};
const dropped = { kind: 'dropped', uid: 65534, gid: 65534, uidMap: '', gidMap: '' } as const;

describe('the arguments of bwrap', () => {
  const words = sandboxArguments(plan, descriptors);
  const text = words.join(' ');

  test('take every namespace, and end with the runtime', () => {
    expect(text).toMatch(/^--unshare-all --unshare-user --disable-userns --uid 1000 --gid 1001 --die-with-parent/);
    expect(text).toContain('--new-session');
    expect(text).not.toContain('--share-net');
    expect(text).toContain('--seccomp 6');
  });

  test('clear the environment before they set it, and let the command have its own', () => {
    const set = words.flatMap((word, index) =>
      word === '--setenv' ? [`${words[index + 1]}=${words[index + 2]}`] : [],
    );
    expect(set).toEqual(['PATH=/usr/local/bin:/usr/bin:/bin', 'HOME=/w', 'TMPDIR=/tmp', 'LANG=C.UTF-8', 'A=b']);
    expect(words.indexOf('--clearenv')).toBeLessThan(words.indexOf('--setenv'));
  });

  test('mount what is held by its descriptor, then what hides, and close the root last', () => {
    const order = [
      '--ro-bind /usr /usr',
      '--symlink usr/bin /bin',
      '--perms 0444 --ro-bind-data 8 /etc/passwd',
      '--proc /proc',
      '--ro-bind /dev/null /proc/kcore',
      '--size 4096 --tmpfs /proc/acpi --remount-ro /proc/acpi',
      '--dev /dev',
      '--size 1000 --tmpfs /dev/shm --remount-ro /dev',
      '--size 1000 --tmpfs /tmp',
      '--bind-fd 9 /w --bind-fd 10 /w/app',
      '--size 4096 --tmpfs /w/app/.state --remount-ro /w/app/.state',
      '--ro-bind /dev/null /w/.env',
      '--remount-ro / --chdir /w/sub',
    ].map((part) => text.indexOf(part));
    expect(order).not.toContain(-1);
    expect(order).toEqual([...order].sort((one, other) => one - other));
    expect(text.endsWith('--remount-ro / --chdir /w/sub')).toBe(true);
  });

  test('never let a read-only workspace be written', () => {
    const readOnly = sandboxArguments({ ...plan, command: { ...plan.command, readOnly: true } }, descriptors);
    expect(readOnly).not.toContain('--bind-fd');
    expect(readOnly.join(' ')).toContain('--ro-bind-fd 9 /w --ro-bind-fd 10 /w/app');
  });

  test('of root leave only what it takes to become nobody', () => {
    const ofRoot = sandboxArguments({ ...plan, identity: dropped }, descriptors).join(' ');
    expect(ofRoot).toContain('--unshare-user --userns-block-fd 5 --cap-drop ALL --cap-add CAP_DAC_OVERRIDE');
    expect(ofRoot.match(/--cap-add CAP_\w+/g)).toHaveLength(5);
  });
});

describe('the words of the launcher', () => {
  test('set the limits in the units of the shell', () => {
    const words = launcherWords(['echo', '-n'], limits, plan.identity, 7);
    expect(words.slice(0, 3)).toEqual(['/usr/bin/bash', '-p', '-c']);
    expect(words.slice(4)).toEqual(['sandbox', '7', '5', '4', '16', '2', '3', '4', 'echo', '-n']);
  });

  test('drop root before anything else', () => {
    const words = launcherWords(['true'], limits, dropped, 7);
    expect(words[0]).toBe('/usr/bin/setpriv');
    expect(words).toContain('--bounding-set=-all,+dac_override,+fowner');
    expect(words.indexOf('/usr/bin/bash')).toBe(8);
  });
});
