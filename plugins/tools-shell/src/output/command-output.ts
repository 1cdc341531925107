import { constants } from 'node:os';
import type { JsonValue } from '@perdure/events';
import type { CommandResult } from '../command/run-command.js';
import type { OutputExcerpt } from './bounded-output.js';
import { safeText } from './safe-text.js';

/** The output of the tool. What a command says is the command's word, so nothing of it is mixed with ours. */
export function commandOutput({
  endedBy,
  exit,
  stdout,
  stderr,
  durationMs,
}: CommandResult): Readonly<Record<string, JsonValue>> {
  return {
    exit: exitOutput(endedBy, exit.code, exit.signal),
    duration_ms: durationMs,
    ...streamOutput('stdout', stdout),
    ...streamOutput('stderr', stderr),
  };
}

function exitOutput(
  endedBy: CommandResult['endedBy'],
  code: number | null,
  signal: string | null,
): Readonly<Record<string, JsonValue>> {
  if (endedBy === 'timeout') return { reason: 'timed_out' };
  if (endedBy === 'stop') return { reason: 'stopped' };
  const name = signal ?? signalOf(code);
  const limit = name === undefined ? undefined : LIMITS[name];
  if (limit !== undefined) return { reason: 'limit', limit, ...(code === null ? {} : { code }) };
  if (signal !== null) return { reason: 'signal', signal };
  // A shell gives on the signal that ended its last command as a code.
  return { reason: 'exited', code: code ?? -1, ...(name === undefined ? {} : { signal: name }) };
}

/** Signals that the system sends when a limit is reached. */
const LIMITS: Readonly<Record<string, string>> = { SIGXCPU: 'cpu_seconds', SIGXFSZ: 'file_bytes' };

function signalOf(code: number | null): string | undefined {
  if (code === null || code <= 128) return undefined;
  return Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
}

function streamOutput(name: 'stdout' | 'stderr', excerpt: OutputExcerpt): Readonly<Record<string, JsonValue>> {
  const { head, tail, droppedBytes } = excerpt;
  if (droppedBytes === 0) return { [name]: safeText(Buffer.concat([head, tail])) };
  const [before, after] = [safeText(wholeEnd(head)), safeText(wholeStart(tail))];
  return { [name]: before, [`${name}_tail`]: after, [`${name}_dropped_bytes`]: droppedBytes };
}

/** Without the beginning of a character at the end, which the cut would make into bytes. */
function wholeEnd(bytes: Buffer): Buffer {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.subarray(0, bytes.length - back) : bytes;
  }
  return bytes;
}

function wholeStart(bytes: Buffer): Buffer {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.subarray(start);
}
