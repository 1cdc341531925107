import { isPerdureError, type ErrorCode } from '@perdure/plugin-api';
import { CommanderError } from 'commander';

/** What the exit codes of `perdure` mean. A process that a signal ends has 128 and the signal's number. */
export const exitCodes = {
  completed: 0,
  failed: 1,
  usage: 2,
  busy: 3,
  differs: 4,
  store: 5,
  interrupted: 130,
} as const;

/** The table for `--help`. */
export const exitCodeHelp = `
Exit codes:
  0    the turn completed; the command did what it is for
  1    the turn failed, was stopped elsewhere or was left unfinished
  2    the command or the configuration is not valid
  3    the session is busy, or another node owns it
  4    verification or replay found a difference
  5    the store cannot be used
  130  stopped by Ctrl-C
`;

const BUSY: readonly ErrorCode[] = [
  'PERDURE_SESSION_BUSY',
  'PERDURE_SESSION_OWNED',
  'PERDURE_NODE_RUNNING',
  'PERDURE_SESSION_FENCED',
  'PERDURE_STORE_CONTENDED',
  'PERDURE_RELAY_FENCED',
];
const DIFFERS: readonly ErrorCode[] = [
  'PERDURE_CHAIN_BROKEN',
  'PERDURE_ANCHOR_MISMATCH',
  'PERDURE_FORK_ORIGIN_MISSING',
  'PERDURE_REPLAY_DIFFERS',
];
const SETTING: readonly ErrorCode[] = [
  'PERDURE_NOT_SUPPLIED',
  'PERDURE_FACT_NEWER',
  'PERDURE_PLUGIN_FAILED',
  'PERDURE_SANDBOX_UNAVAILABLE',
];

/** The exit code for what a command threw. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return exitCodes.usage;
  if (!isPerdureError(error)) return exitCodes.failed;
  return exitCodeOfFailure(error.code, error.entry.kind === 'caller' ? exitCodes.usage : exitCodes.failed);
}

/** The exit code for a failure that a result tells by its code. */
export function exitCodeOfFailure(code: string, otherwise: number): number {
  const has = (codes: readonly string[]): boolean => codes.includes(code);
  if (has(BUSY)) return exitCodes.busy;
  if (has(DIFFERS)) return exitCodes.differs;
  if (has(SETTING)) return exitCodes.usage;
  return code.startsWith('PERDURE_STORE_') && code !== 'PERDURE_STORE_REQUIRED' ? exitCodes.store : otherwise;
}
