import type { SandboxedProcess, SandboxExit } from '@perdure/plugin-api';
import { BoundedOutput, type OutputExcerpt } from '../output/bounded-output.js';

/** A command that runs, in the sandbox or outside. */
export type RunningCommand = SandboxedProcess;

export interface RunOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Bytes to keep of each of the two outputs. */
  readonly outputBytes: number;
}

export interface CommandResult {
  /** Who ended the command; `itself` also when a signal did that nobody here sent. */
  readonly endedBy: 'itself' | 'timeout' | 'stop';
  readonly exit: SandboxExit;
  readonly stdout: OutputExcerpt;
  readonly stderr: OutputExcerpt;
  readonly durationMs: number;
}

/** How long output is still read when the command has ended and something unseen holds its end open. */
const LATE_OUTPUT_MS = 250;

/** Runs a command to its end, and ends it and all that it started when its time is over or the call is stopped. */
export async function runCommand(
  start: () => Promise<RunningCommand>,
  { timeoutMs, signal, outputBytes }: RunOptions,
): Promise<CommandResult> {
  const begun = performance.now();
  const command = await start();
  let endedBy: CommandResult['endedBy'] = 'itself';
  const end = (by: 'timeout' | 'stop'): void => {
    if (endedBy !== 'itself') return;
    endedBy = by;
    void command.kill();
  };
  const stop = (): void => end('stop');
  const timer = setTimeout(() => end('timeout'), timeoutMs);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  const [stdout, stderr] = [new BoundedOutput(outputBytes), new BoundedOutput(outputBytes)];
  try {
    const reading = Promise.all([read(command.stdout, stdout), read(command.stderr, stderr)]);
    const exit = await command.exit;
    // What was left in the background outside of a sandbox.
    await command.kill();
    await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, LATE_OUTPUT_MS).unref())]);
    const durationMs = Math.round(performance.now() - begun);
    return { endedBy, exit, stdout: stdout.excerpt(), stderr: stderr.excerpt(), durationMs };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
}

async function read(stream: AsyncIterable<Uint8Array>, output: BoundedOutput): Promise<void> {
  try {
    for await (const chunk of stream) output.add(chunk);
  } catch {
    // A pipe that breaks has given all that there was.
  }
}
