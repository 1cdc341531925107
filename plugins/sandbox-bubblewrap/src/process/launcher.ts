import type { SandboxLimits } from '@perdure/plugin-api';
import type { Identity } from '../view/identity.js';
import { KEPT_CAPABILITIES } from './sandbox-arguments.js';

/**
 * Address space for each byte of memory. Much more is reserved than used by runtimes such as V8, Go and Java; what is
 * used is limited by RLIMIT_DATA, which does not count memory that is shared between processes.
 */
const RESERVED_PER_USED = 4;

/**
 * Runs inside, before the command: sets the limits, says that the command is closed in, and closes every descriptor
 * but the standard ones, also those that the runtime was started with.
 *
 * A limit can only fail to be set where a lower one is in force already. The system ends the processes of a sandbox
 * before any other when it runs out of memory.
 */
const SCRIPT = `
{ echo 1000 >/proc/self/oom_score_adj; } 2>/dev/null
ulimit -c 0 2>/dev/null
ulimit -u "$2" 2>/dev/null
ulimit -d "$3" 2>/dev/null
ulimit -v "$4" 2>/dev/null
ulimit -f "$5" 2>/dev/null
ulimit -S -t "$6" 2>/dev/null
ulimit -H -t "$7" 2>/dev/null
echo >&"$1"
for fd in /proc/self/fd/*; do
  fd=\${fd##*/}
  if ((fd > 2)); then exec {fd}>&-; fi
done
shift 7
exec -- "$@"
`.trim();

/** The words that bwrap runs: they make a command out of whoever bwrap is. */
export function launcherWords(
  argv: readonly string[],
  limits: SandboxLimits,
  identity: Identity,
  ready: number,
): readonly string[] {
  const kibibytes = (bytes: number): number => Math.max(1, Math.floor(bytes / 1024));
  const numbers = [
    ready,
    limits.processes,
    kibibytes(limits.memoryBytes),
    kibibytes(limits.memoryBytes * RESERVED_PER_USED),
    kibibytes(limits.fileBytes),
    limits.cpuSeconds,
    // SIGXCPU at the limit, SIGKILL for who does not end by it.
    limits.cpuSeconds + 1,
  ];
  // -p: the shell takes no script and no function from the environment.
  return [...dropWords(identity), '/usr/bin/bash', '-p', '-c', SCRIPT, 'sandbox', ...numbers.map(String), ...argv];
}

function dropWords(identity: Identity): readonly string[] {
  if (identity.kind === 'own') return [];
  const kept = ['-all', ...KEPT_CAPABILITIES.map((name) => `+${name}`)].join(',');
  return [
    '/usr/bin/setpriv',
    `--reuid=${identity.uid}`,
    `--regid=${identity.gid}`,
    '--clear-groups',
    // For programs that ask the system whether they may write before they do: the answer is to be what happens then.
    '--securebits=+noroot,+noroot_locked,+no_setuid_fixup,+no_setuid_fixup_locked',
    `--inh-caps=${kept}`,
    `--ambient-caps=${kept}`,
    `--bounding-set=${kept}`,
  ];
}
