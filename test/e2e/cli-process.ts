import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { decodeEnvelope, type EventEnvelopeV1 } from '@perdure/events';
import { root } from '../architecture/workspace.js';
import { bundle } from '../fixtures/bundle.js';

export interface EndedProcess {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly error: string;
}

export interface CliProcess {
  readonly child: ChildProcess;
  readonly ended: Promise<EndedProcess>;
  /** Resolves when standard output and error together hold a text. Rejects when the process ends without it. */
  until(text: string): Promise<void>;
}

/** A machine of its own for a test: folders, environment, and the `perdure` command on them. */
export class CliPlace {
  private readonly folder = realpathSync(mkdtempSync(join(tmpdir(), 'perdure-cli-')));
  readonly workspace = join(this.folder, 'workspace');
  readonly environment: Record<string, string>;
  private readonly running = new Set<ChildProcess>();

  private constructor(readonly main: string) {
    const temporary = join(this.folder, 'temporary');
    for (const folder of [this.workspace, temporary]) mkdirSync(folder);
    const { PATH = '' } = process.env;
    const state = join(this.folder, 'state');
    this.environment = { PATH, HOME: this.folder, TMPDIR: temporary, XDG_STATE_HOME: state };
  }

  /** Builds the command; a place costs little behind that. */
  static async builder(): Promise<() => CliPlace> {
    const main = await bundle(new URL('../../packages/cli/src/main.ts', import.meta.url));
    return () => new CliPlace(main);
  }

  /** Writes a file of the place; `path` is taken from its folder. */
  write(path: string, text: string): string {
    const file = join(this.folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  path(path: string): string {
    return join(this.folder, path);
  }

  /** Lets configuration files of the workspace import the packages of this repository. */
  linkPackages(): void {
    symlinkSync(join(root, 'node_modules'), join(this.workspace, 'node_modules'));
  }

  start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): CliProcess {
    const child = spawn(process.execPath, ['--conditions=@perdure/source', this.main, ...args], {
      cwd: this.workspace,
      env: { ...this.environment, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.running.add(child);
    const printed = { out: '', error: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (printed.error += text));
    const ended = new Promise<EndedProcess>((resolve) => {
      child.on('close', (code, signal) => {
        this.running.delete(child);
        resolve({ code, signal, ...printed });
      });
    });
    const until = async (text: string): Promise<void> => {
      let isOver = false;
      void ended.then(() => (isOver = true));
      while (!`${printed.out}${printed.error}`.includes(text)) {
        if (isOver) throw new Error(`ended without "${text}": ${printed.out}${printed.error}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    return { child, ended, until };
  }

  run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<EndedProcess> {
    return this.start(args, environment).ended;
  }

  /** Ends what a test that failed has left running, too. */
  remove(): void {
    for (const child of this.running) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** The module of a plugin of this repository, which configuration files import as JavaScript. */
export function bundledPlugin(name: string): Promise<string> {
  return bundle(new URL(`../../plugins/${name}/src/index.ts`, import.meta.url));
}

/** The JSON lines of an output. */
export function jsonLines(out: string): readonly unknown[] {
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown);
}

/** The envelopes among JSON lines, each checked; the last line is a result and no envelope. */
export function envelopesOf(lines: readonly unknown[]): readonly EventEnvelopeV1[] {
  return lines.slice(0, -1).map((line) => {
    const decoded = decodeEnvelope(line);
    if (!decoded.ok) throw new Error(`${decoded.field}: ${decoded.message} in ${JSON.stringify(line)}`);
    return decoded.envelope;
  });
}

/** The id of the session that a run printed. */
export function sessionOf({ error }: Pick<EndedProcess, 'error'>): string {
  const [, session] = /^session (\S+)$/m.exec(error) ?? [];
  if (session === undefined) throw new Error(`no session in: ${error}`);
  return session;
}
