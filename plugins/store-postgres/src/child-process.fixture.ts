import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The command line that runs a fixture of this folder as a process of its own. */
export function fixtureCommand(name: string, args: readonly string[]): readonly string[] {
  const file = fileURLToPath(new URL(`./${name}.fixture.ts`, import.meta.url));
  return [process.execPath, '--import', 'tsx', '--conditions=@perdure/source', file, ...args];
}

export interface Child {
  readonly process: ChildProcess;
  /** The lines that it wrote so far. */
  readonly lines: readonly string[];
  /** Ends its standard input, for which a fixture waits that must begin together with another one. */
  go(): void;
  /** Resolves when a line that begins with a text has come; fails when the process ends before. */
  line(beginning: string): Promise<void>;
  /** Resolves with the exit code, or the signal, and what it wrote to its standard error. */
  readonly end: Promise<{ readonly code: number | string | null; readonly errors: string }>;
}

export function startChild(command: readonly string[]): Child {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const lines: string[] = [];
  let rest = '';
  let errors = '';
  let onLine: (() => void) | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    // A line that was cut off by the death of the process is none.
    rest = parts.pop() ?? '';
    lines.push(...parts);
    onLine?.();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors += text;
  });
  const end = once(child, 'close').then((values) => {
    onLine?.();
    return { code: (values[0] ?? values[1]) as number | string | null, errors };
  });
  let isOver = false;
  void end.then(() => {
    isOver = true;
  });
  return {
    process: child,
    lines,
    end,
    go: () => child.stdin.end(),
    async line(beginning) {
      while (!lines.some((line) => line.startsWith(beginning))) {
        if (isOver) throw new Error(`The process ended without "${beginning}": ${errors}`);
        await new Promise<void>((resolve) => {
          onLine = resolve;
          void end.then(() => resolve());
        });
      }
    },
  };
}
