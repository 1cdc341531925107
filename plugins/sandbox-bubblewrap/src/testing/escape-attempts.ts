export interface EscapeAttempt {
  readonly name: string;
  /** For bash. Says ESCAPED when it worked. */
  readonly script: string;
  /** What is said when it met the wall that it should meet. */
  readonly meets: RegExp;
  readonly ends?: readonly number[];
}

/** Makes a system call with perl, which every Debian has. Its number is that on x64 and that on arm64. */
function call([x64, arm64]: readonly [number, number], args: string): string {
  const number = process.arch === 'arm64' ? arm64 : x64;
  return `perl -e '$r = syscall(${number}, ${args}); print $r < 0 ? "refused $!" : "ESCAPED"'`;
}

/** Tries something in perl that is true when it works. */
function attempt(expression: string): string {
  return `perl -MSocket -e 'print ${expression} ? "ESCAPED" : "refused $!"'`;
}

const [GONE, READ_ONLY, REFUSED] = [/No such file or directory/, /Read-only file system/, /not permitted|denied/i];

export const escapeAttempts: readonly EscapeAttempt[] = [
  // Files of the host.
  { name: 'reads a file beside its workspace', script: 'cat @OUTSIDE@/secret.txt', meets: GONE },
  { name: 'follows a link out of its workspace', script: 'ln -s @OUTSIDE@ out; cat out/secret.txt', meets: GONE },
  {
    name: 'follows a link upwards',
    script: 'ln -s ../outside out; cat out/secret.txt; ls -a ..',
    meets: GONE,
  },
  {
    name: 'writes through a link to a file of a store',
    script: 'ln -s @OUTSIDE@/secret.txt db; echo x >db',
    meets: GONE,
  },
  { name: 'makes a hard link out of its workspace', script: 'ln @OUTSIDE@/secret.txt db', meets: GONE },
  { name: 'reads the homes of others', script: 'ls -A /root /home', meets: GONE },
  { name: 'reads passwords', script: 'cat /etc/shadow /etc/ssh/* /etc/sudoers', meets: GONE },
  {
    name: 'finds the root of the machine in /proc',
    script: 'cat /proc/1/root@OUTSIDE@/secret.txt',
    meets: /No such|denied/,
  },
  {
    name: 'goes through folders of processes',
    script: 'ls /proc/1/cwd/ /proc/1/fd/; cat /proc/*/root@OUTSIDE@/secret.txt',
    meets: /No such|denied/,
  },
  {
    name: 'reads state of the system',
    script: 'ls -A /var/lib /var/run /run/ /mnt /srv /opt /boot /media; ls -A /run /var',
    meets: GONE,
  },
  { name: 'looks for what is mounted', script: 'grep -c ext4.*@OUTSIDE@ /proc/self/mounts; ls /sys', meets: GONE },
  {
    name: 'finds the sessions of the runtime',
    script: 'ls -A ~/.local/state/perdure /root/.local/state "${XDG_STATE_HOME:-/var/lib}/perdure"',
    meets: GONE,
  },
  {
    name: 'writes the log of the runtime',
    script: `echo x >>@OUTSIDE@/secret.txt && echo ESCAPED
      mkdir -p @OUTSIDE@; echo x >@OUTSIDE@/secret.txt; echo done`,
    meets: /done/,
  },
  // Writing where it must not.
  { name: 'writes in /usr', script: 'echo x >/usr/perdure-escaped && echo ESCAPED', meets: READ_ONLY },
  { name: 'writes in /etc', script: 'echo x >/etc/perdure-escaped && echo ESCAPED', meets: READ_ONLY },
  {
    name: 'writes a program',
    script: 'echo x >>/usr/bin/env && echo ESCAPED; echo x >/bin/ls && echo ESCAPED',
    meets: READ_ONLY,
  },
  {
    name: 'writes in the root folder and in /dev',
    script: 'mkdir /x /dev/x /run/x /var/x && echo ESCAPED',
    meets: READ_ONLY,
  },
  {
    name: 'writes settings of the kernel',
    script: 'echo "|/bin/sh" >/proc/sys/kernel/core_pattern && echo ESCAPED',
    meets: /denied|Read-only/,
  },
  {
    name: 'presses the keys of the kernel',
    script: 'echo b >/proc/sysrq-trigger && test -s /proc/sysrq-trigger && echo ESCAPED; ls -la /proc/sysrq-trigger',
    meets: /No such|Read-only|denied|null/,
  },
  {
    name: 'makes a folder writable again',
    script: call([165, 40], '$a = "none", $b = "/usr", $c = "", 32, 0'),
    meets: REFUSED,
  },
  {
    name: 'mounts',
    script: 'mount -t tmpfs none /tmp && echo ESCAPED; mount -t proc none /tmp && echo ESCAPED',
    meets: /superuser|not permitted/,
  },
  { name: 'unmounts', script: call([166, 39], '$a = "/usr", 2'), meets: REFUSED },
  { name: 'changes its root', script: 'mkdir r; /usr/sbin/chroot r /bin/true && echo ESCAPED', meets: REFUSED },
  {
    name: 'takes a user namespace',
    script: 'unshare --user --map-root-user true && echo ESCAPED',
    meets: /not permitted|No space/,
  },
  {
    name: 'takes a user namespace by clone',
    script: call([56, 220], '0x10000011, 0, 0, 0, 0'),
    meets: /refused|Killed|^$/,
  },
  {
    name: 'enters the namespaces of another',
    script: 'nsenter --target 1 --mount true && echo ESCAPED',
    meets: REFUSED,
  },
  // Devices.
  {
    name: 'makes a device',
    script: 'mknod disk b 254 0 && echo ESCAPED; mknod /tmp/mem c 1 1 && echo ESCAPED',
    meets: REFUSED,
  },
  { name: 'looks for disks', script: 'ls /dev/vda /dev/sda /dev/mem /dev/kmsg /dev/fuse', meets: GONE },
  {
    name: 'types into a terminal',
    script: attempt('ioctl(STDIN, 0x5412, $c = "x")') + '; ls -l /dev/tty; echo x >/dev/tty',
    meets: /refused.*not permitted/,
  },
  // Rights.
  {
    name: 'runs a program that is root by its mode',
    script: `for p in su mount passwd; do stat -c %A /usr/bin/$p; done
      cp /usr/bin/id .; chmod 4755 id; ./id -u; [ "$(./id -u)" = 0 ] && echo ESCAPED; su -c "echo ESCAPED"`,
    meets: /65534|1000|\d+/,
  },
  {
    name: 'becomes root',
    script: `perl -e '$> = 0; $< = 0; print "uid $> "; print $> == 0 ? "ESCAPED" : "refused $!"'`,
    meets: /refused (?:Operation not permitted|Invalid argument)/,
  },
  { name: 'reads keys of the kernel', script: call([250, 219], '0, -3, 0'), meets: /refused.*not permitted/ },
  {
    name: 'reads memory of the kernel',
    script: 'head -c 8 /proc/kcore; [ -s /proc/kallsyms ] && echo ESCAPED; wc -c /proc/keys',
    meets: /0 \/proc\/keys|denied/,
  },
  // Processes.
  { name: 'ends a process of the host', script: 'kill -9 @VICTIM@ && echo ESCAPED', meets: /No such process/ },
  {
    name: 'ends all processes that it can',
    script: 'trap "" TERM; kill -TERM -1; ls -d /proc/[0-9]*',
    meets: /\/proc\/1\b/,
  },
  {
    name: 'traces a process of the host',
    script: call([101, 117], '16, @VICTIM@, 0, 0'),
    meets: /refused No such process/,
  },
  {
    name: 'traces the init of the sandbox',
    script: `cat /proc/1/environ /proc/1/mem /proc/1/maps | grep -c HOST
      tr "\\0" " " </proc/1/cmdline | grep -c -- "--set[e]nv"`,
    meets: /^0\n0\n/,
  },
  {
    name: 'looks for processes of the host',
    script: 'ls -d /proc/@VICTIM@ && echo ESCAPED; ls /proc | grep -c "^[0-9]*$"',
    meets: /^[1-9]\n/,
  },
  // Environment and descriptors.
  {
    name: 'reads the environment of the runtime',
    script: 'env; cat /proc/self/environ /proc/$PPID/environ | grep -c HOST_SECRET',
    meets: /^0$/m,
  },
  {
    name: 'uses descriptors that were left open',
    script: `for f in $(seq 3 400); do [ -e /proc/$$/fd/$f ] && [ $f != 255 ] && echo ESCAPED $f; done
      ls /proc/self/fd | tr "\\n" " "`,
    meets: /^0 1 2 3 /,
  },
  { name: 'reads what nobody typed', script: 'read -r line; echo "read <$line> $?"', meets: /read <> 1/ },
  // Network.
  {
    name: 'connects to a server of the host',
    script: 'exec 3<>/dev/tcp/127.0.0.1/@PORT@ && echo ESCAPED',
    meets: /Connection refused/,
  },
  { name: 'connects to the world', script: 'exec 3<>/dev/tcp/1.1.1.1/53 && echo ESCAPED', meets: /unreachable/ },
  {
    name: 'looks for network devices',
    script: 'tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d " \\n"',
    meets: /^lo\n/,
  },
  {
    name: 'connects to a socket of the host',
    script: attempt('socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, sockaddr_un("@SOCKET@"))'),
    meets: /refused No such file/,
  },
  {
    name: 'connects to an abstract socket of the host',
    script: attempt('socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, pack("S", 1) . "\\0@ABSTRACT@")'),
    meets: /refused Connection refused/,
  },
  {
    name: 'connects to the machine around this one',
    script: `perl -e 'print socket(S, 40, 1, 0) ? "ESCAPED" : "refused $!"'`,
    meets: /refused Address family not supported/,
  },
  {
    name: 'finds the socket of docker',
    script: 'ls /var/run/docker.sock /run/docker.sock /run/dbus /run/systemd',
    meets: GONE,
  },
  // More than its share.
  {
    name: 'forks without end',
    script: 'for i in $(seq 200); do sleep 5 & done 2>&1 | head -c 300; kill $(jobs -p) 2>/dev/null',
    meets: /Resource temporarily unavailable/,
  },
  {
    name: 'takes all memory',
    script: `perl -e '$x = "x" x (1024 * 1024 * 1024); print "ESCAPED"'`,
    meets: /Out of memory|^\s*$/i,
    ends: [1, 12, 134, 137, 139],
  },
  {
    name: 'fills /tmp',
    script: 'for i in 1 2 3 4 5; do head -c 7M /dev/zero >/tmp/$i || break; done; du -sm /tmp | cut -f1',
    meets: /No space left/,
  },
  {
    name: 'fills its home and shared memory',
    script: `for i in 1 2 3 4; do head -c 7M /dev/zero >~/$i; head -c 7M /dev/zero >/dev/shm/$i; done
      [ -e /dev/shm/4 ] && wc -c /dev/shm/4`,
    meets: /No space left/,
  },
  {
    name: 'fills the disk with one file',
    script: 'head -c 64M /dev/zero >big; echo "code $?"; stat -c %s big',
    meets: /code 153\n8388608/,
  },
  {
    name: 'makes a sparse file larger than allowed',
    script: 'truncate -s 1G big && echo ESCAPED; echo "code $?"',
    meets: /File too large|code 153|code 1/,
  },
  {
    name: 'uses the processor without end',
    script: 'ulimit -t 1; while :; do :; done',
    meets: /^\s*(?:.*CPU time limit.*)?\s*$/,
    ends: [152, 137],
  },
  {
    name: 'lifts its limits',
    script: `ulimit -u 10000 && echo ESCAPED; ulimit -f unlimited && echo ESCAPED
      prlimit --pid $$ --nproc=10000 && echo ESCAPED`,
    meets: REFUSED,
  },
  { name: 'dumps its core', script: 'ulimit -c; kill -SEGV $$', meets: /^0\n/ },
];
