import { spawn, type ChildProcess } from 'node:child_process';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { JSONRPCMessageSchema, type JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { NotSent } from './call-broken.js';
import { answeredId, LineReader, type ReadLine } from './line-reader.js';
import { endGroup, killGroup, watchGroup } from './process-group.js';

export interface StdioProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly workingDirectory: string | undefined;
  /** All variables that it sees. */
  readonly environment: Readonly<Record<string, string>>;
  /** Bytes of the longest message that is read. */
  readonly maxMessageBytes: number;
}

const STDERR_CHARACTERS = 2_048;

/** JSON-RPC's code for what an implementation has to say itself. */
const TOO_LARGE = -32_001;

/**
 * Talks to a program by lines. The program leads a group of processes that ends as a whole, sees only the variables
 * that it is given, and may say on its output what is no message: that is passed over.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  protocolVersion: string | undefined;
  private child: ChildProcess | undefined;
  private said = '';
  private isClosed = false;
  private readonly lines: LineReader;

  constructor(private readonly program: StdioProgram) {
    this.lines = new LineReader(program.maxMessageBytes);
  }

  /** The last of what the program said on its error output, as it came. */
  get stderr(): string {
    return this.said;
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  start(): Promise<void> {
    const { command, args, workingDirectory, environment } = this.program;
    const child = spawn(command, [...args], {
      cwd: workingDirectory,
      env: { ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
    });
    this.child = child;
    watchGroup(child);
    // A pipe that breaks is seen by its writer, and by the end of the program.
    child.stdin.on('error', () => undefined);
    child.stdout.on('data', (chunk: Buffer) => {
      for (const line of this.lines.push(chunk)) this.take(line);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      this.said = (this.said + chunk.toString()).slice(-STDERR_CHARACTERS);
    });
    child.once('close', () => this.end());
    child.once('exit', () => {
      killGroup(child);
      // What inherited the output may hold it open for ever.
      setTimeout(() => this.end(), 100).unref();
    });
    return new Promise((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        this.end();
        reject(error);
      });
    });
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.child?.stdin;
    if (this.isClosed || stdin === null || stdin === undefined || !stdin.writable) {
      return Promise.reject(new NotSent('the server has ended'));
    }
    return new Promise((resolve, reject) => {
      stdin.write(`${JSON.stringify(message)}\n`, (error) => {
        // A message is only one with the end of its line, and that was not taken.
        if (error) reject(new NotSent('the server has ended', { cause: error }));
        else resolve();
      });
    });
  }

  async close(): Promise<void> {
    if (this.child !== undefined) await endGroup(this.child);
    this.end();
  }

  private end(): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.onclose?.();
  }

  private take(line: ReadLine): void {
    if (this.isClosed) return;
    if (!('text' in line)) return this.refuse(line);
    if (line.text.trim() === '') return;
    const message = parse(line.text);
    if (message !== undefined) this.onmessage?.(message);
  }

  /** Whoever waits for an answer that is too large is told, instead of left waiting. */
  private refuse(line: Exclude<ReadLine, { readonly text: string }>): void {
    const id = answeredId(line);
    if (id === undefined) return;
    const message = `its answer of ${line.bytes} bytes is larger than ${this.program.maxMessageBytes}`;
    this.onmessage?.({ jsonrpc: '2.0', id, error: { code: TOO_LARGE, message } });
  }
}

function parse(text: string): JSONRPCMessage | undefined {
  try {
    return JSONRPCMessageSchema.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
