import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Runs this repository from its sources. */
export const fromSources: readonly string[] = ['--import', import.meta.resolve('tsx'), '--conditions=@perdure/source'];
const perdureMain = fileURLToPath(new URL('src/main.ts', import.meta.resolve('@perdure/cli/package.json')));

export interface EndedProcess {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly error: string;
}

export interface RunningProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<EndedProcess>;
}

/** Starts Node. `onLine` is told of each line as it comes, of both outputs. */
export function startNode(
  args: readonly string[],
  folder: string,
  onLine: (line: string) => void = () => undefined,
): RunningProcess {
  const { NODE_OPTIONS: _, NODE_TEST_CONTEXT: __, FORCE_COLOR: ___, ...env } = process.env;
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const printed = { out: '', error: '' };
  for (const [name, stream] of [
    ['out', child.stdout],
    ['error', child.stderr],
  ] as const) {
    createInterface({ input: stream }).on('line', (line) => {
      printed[name] += `${line}\n`;
      onLine(line);
    });
  }
  const ended = new Promise<EndedProcess>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...printed }));
  });
  return { child, ended };
}

/** Starts the `perdure` command. */
export function startPerdure(args: readonly string[], folder: string, onLine?: (line: string) => void): RunningProcess {
  return startNode([...fromSources, perdureMain, ...args], folder, onLine);
}
