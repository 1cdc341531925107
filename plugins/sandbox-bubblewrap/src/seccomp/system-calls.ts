/** What a processor is called, and the numbers that its system calls have. */
export interface Architecture {
  /** As the kernel tells it to filters. */
  readonly audit: number;
  readonly clone: number;
  readonly socket: number;
  readonly ioctl: number;
  /** Calls that set the mode of a file, each with the place of the mode among its arguments. */
  readonly modes: readonly ModeCall[];
  /** Calls that no command needs and that reach beyond namespaces, or open more of the kernel than they are worth. */
  readonly refused: readonly number[];
  /** Calls that programs have another way for when they are told that they do not exist. */
  readonly missing: readonly number[];
  /** From here on numbers belong to another binary interface with calls of its own. */
  readonly firstForeign?: number;
}

export interface ModeCall {
  readonly number: number;
  readonly mode: number;
  /** The place of the flags without which the mode means nothing. */
  readonly flags?: number;
}

/** One row for each call: on x64, on arm64. These numbers never change. */
const REFUSED: readonly (readonly [x64: number, arm64: number | undefined])[] = [
  [165, 40], // mount
  [166, 39], // umount2
  [155, 41], // pivot_root
  [161, 51], // chroot
  [428, 428], // open_tree
  [429, 429], // move_mount
  [430, 430], // fsopen
  [431, 431], // fsconfig
  [432, 432], // fsmount
  [433, 433], // fspick
  [442, 442], // mount_setattr
  [467, 467], // open_tree_attr
  [272, 97], // unshare
  [308, 268], // setns
  // Keys belong to the session of the runtime, and no namespace holds them apart.
  [248, 217], // add_key
  [249, 218], // request_key
  [250, 219], // keyctl
  [321, 280], // bpf
  [298, 241], // perf_event_open
  [323, 282], // userfaultfd
  // A handle of a file leads to it whatever is mounted.
  [303, 264], // name_to_handle_at
  [304, 265], // open_by_handle_at
  [246, 104], // kexec_load
  [320, 294], // kexec_file_load
  [175, 105], // init_module
  [313, 273], // finit_module
  [176, 106], // delete_module
  [169, 142], // reboot
  [167, 224], // swapon
  [168, 225], // swapoff
  [163, 89], // acct
  [179, 60], // quotactl
  [443, 443], // quotactl_fd
  [103, 116], // syslog
  [164, 170], // settimeofday
  [227, 112], // clock_settime
  [172, undefined], // iopl
  [173, undefined], // ioperm
  [154, undefined], // modify_ldt
];

const OPEN_X64: readonly ModeCall[] = [
  { number: 2, flags: 1, mode: 2 }, // open
  { number: 85, mode: 1 }, // creat
  { number: 257, flags: 2, mode: 3 }, // openat
  { number: 133, mode: 1 }, // mknod
  { number: 259, mode: 2 }, // mknodat
];
const OPEN_ARM64: readonly ModeCall[] = [
  { number: 56, flags: 2, mode: 3 }, // openat
  { number: 33, mode: 2 }, // mknodat
];
const CHANGE_X64: readonly ModeCall[] = [
  { number: 90, mode: 1 }, // chmod
  { number: 91, mode: 1 }, // fchmod
  { number: 268, mode: 2 }, // fchmodat
  { number: 452, mode: 2 }, // fchmodat2
];
const CHANGE_ARM64: readonly ModeCall[] = [
  { number: 52, mode: 1 }, // fchmod
  { number: 53, mode: 2 }, // fchmodat
  { number: 452, mode: 2 }, // fchmodat2
];

/**
 * clone3 and openat2 keep what counts in memory, where no filter can look. The rings do what other calls do, unseen.
 */
const MISSING = [435, 437, 425, 426, 427]; // clone3, openat2, io_uring_setup, io_uring_enter, io_uring_register

const architectures: Readonly<Record<string, Architecture>> = {
  x64: {
    audit: 0xc000003e,
    clone: 56,
    socket: 41,
    ioctl: 16,
    modes: [...OPEN_X64, ...CHANGE_X64],
    refused: REFUSED.map(([x64]) => x64),
    missing: MISSING,
    firstForeign: 0x40000000,
  },
  arm64: {
    audit: 0xc00000b7,
    clone: 220,
    socket: 198,
    ioctl: 29,
    modes: [...OPEN_ARM64, ...CHANGE_ARM64],
    refused: REFUSED.flatMap(([, arm64]) => (arm64 === undefined ? [] : [arm64])),
    missing: MISSING,
  },
};

/** The system calls of a processor, named as Node names it; `undefined` for one that no filter is known for. */
export function architectureOf(name: string): Architecture | undefined {
  return architectures[name];
}
