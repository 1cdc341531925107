import { existsSync, lstatSync, readlinkSync } from 'node:fs';

/** What a command sees of the machine beside its workspace. */
export interface SystemView {
  /** Folders and files, at their own paths, that can only be read. */
  readonly readOnly: readonly string[];
  /** Symbolic links: path and target. */
  readonly links: readonly (readonly [path: string, target: string])[];
  /** Files and folders of /proc that tell of the machine, and are empty inside. */
  readonly maskedFiles: readonly string[];
  readonly maskedFolders: readonly string[];
}

/** Folders of programs, which are links into /usr on most systems. */
const PROGRAMS = ['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32'];

/** The few settings that programs of all kinds fail without. None of them holds a secret. */
const SETTINGS = [
  '/etc/alternatives',
  '/etc/ca-certificates',
  '/etc/fonts',
  '/etc/ld.so.cache',
  '/etc/ld.so.conf',
  '/etc/ld.so.conf.d',
  '/etc/localtime',
  '/etc/magic',
  '/etc/mime.types',
  '/etc/pki/ca-trust/extracted',
  '/etc/pki/tls/certs',
  '/etc/protocols',
  '/etc/services',
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/terminfo',
];

const MASKED_FILES = [
  'cmdline',
  'iomem',
  'ioports',
  'kallsyms',
  'kcore',
  'key-users',
  'keys',
  'kmsg',
  'kpagecgroup',
  'kpagecount',
  'kpageflags',
  'latency_stats',
  'sched_debug',
  'slabinfo',
  'sysrq-trigger',
  'timer_list',
  'vmallocinfo',
].map((name) => `/proc/${name}`);

const MASKED_FOLDERS = ['acpi', 'asound', 'driver', 'dynamic_debug', 'fs', 'mtrr', 'scsi'].map(
  (name) => `/proc/${name}`,
);

export function systemView(readOnlyPaths: readonly string[]): SystemView {
  const programs = PROGRAMS.filter((path) => existsSync(path));
  const isLink = (path: string): boolean => lstatSync(path).isSymbolicLink();
  const isFolder = (path: string): boolean => lstatSync(path).isDirectory();
  const masked = [...MASKED_FILES, ...MASKED_FOLDERS].filter((path) => existsSync(path));
  return {
    readOnly: [
      '/usr',
      ...programs.filter((path) => !isLink(path)),
      ...SETTINGS.filter((path) => existsSync(path)),
      ...readOnlyPaths,
    ],
    links: programs.filter(isLink).map((path) => [path, readlinkSync(path)]),
    maskedFiles: masked.filter((path) => !isFolder(path)),
    maskedFolders: masked.filter(isFolder),
  };
}
