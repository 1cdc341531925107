import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { controlAt } from '../control/control-client.js';
import type { FaultControl } from '../emulator.js';

export interface EmulatorProcess {
  readonly connectionString: string;
  readonly faults: FaultControl;
  /** For signals: SIGKILL is a crash, SIGSTOP a server that does not answer, SIGTERM an orderly end. */
  readonly child: ChildProcess;
  /** Sends the signal and waits for the end. */
  end(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

/** Starts an emulator as a process of its own, with the options of the command line. It ends with this process. */
export async function spawnEmulator(args: readonly string[]): Promise<EmulatorProcess> {
  // From sources Node needs help to read TypeScript.
  const isSource = import.meta.url.endsWith('.ts');
  const main = fileURLToPath(new URL(isSource ? '../main.ts' : '../main.js', import.meta.url));
  const child = spawn(process.execPath, [...(isSource ? ['--import', 'tsx'] : []), main, '--while-input', ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const ended = once(child, 'exit');
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const printed: { connectionString?: string; control?: string } = {};
  for await (const line of createInterface({ input: child.stdout })) {
    Object.assign(printed, JSON.parse(line));
    if (printed.control !== undefined) break;
  }
  const { connectionString, control } = printed;
  if (connectionString === undefined || control === undefined) {
    await ended;
    throw new Error(`The emulator did not start: ${complaints.trim()}`);
  }
  return {
    connectionString,
    faults: controlAt(control),
    child,
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      await ended;
    },
  };
}
