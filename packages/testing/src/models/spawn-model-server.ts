import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PerdureError } from '@perdure/plugin-api';
import { z } from 'zod';
import { chatRequest, type ChatRequest } from './chat-request.js';
import type { ScriptData } from './script.js';

export interface SpawnModelServerOptions {
  readonly script: ScriptData;
  /** A free one when absent. */
  readonly port?: number;
  readonly models?: readonly string[];
  /** Options of Node itself, for a loader for one. */
  readonly execArgv?: readonly string[];
}

export interface ModelServerProcess {
  /** The base URL for a provider: `http://127.0.0.1:<port>/v1`. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** The bodies of all chat requests so far, in order. */
  requests(): Promise<readonly ChatRequest[]>;
  /** Ends the process; resolves when it has ended. */
  close(): Promise<void>;
}

/** The file to run the model server from: Node takes it with a script as JSON, and a port, as arguments. */
export const modelServerMain = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './model-server-main.ts' : './model-server-main.js', import.meta.url),
);

const started = z.looseObject({ port: z.int(), url: z.string(), pid: z.int() });

/**
 * Starts the model server as a process of its own, which lives on when a worker is killed and ends with this process.
 * Throws PERDURE_CONFIGURATION with the reason that the process gave for not starting.
 */
export async function spawnModelServer(options: SpawnModelServerOptions): Promise<ModelServerProcess> {
  const { execArgv = [], ...start } = options;
  const child = spawn(process.execPath, [...execArgv, modelServerMain], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = once(child, 'close');
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  // A process that ends before it has read its input says why on its error output.
  child.stdin.on('error', () => undefined);
  child.stdin.write(`${JSON.stringify(start)}\n`);
  const line = await new Promise<string | undefined>((resolve) => {
    const lines = createInterface({ input: child.stdout });
    lines.once('line', resolve).once('close', () => resolve(undefined));
  });
  if (line === undefined) {
    await ended;
    throw new PerdureError('PERDURE_CONFIGURATION', { field: 'model server', reason: errors.trim().slice(0, 300) });
  }
  const { url, port, pid } = started.parse(JSON.parse(line));
  return {
    url,
    port,
    pid,
    async requests() {
      const response = await fetch(new URL('/requests', url));
      return z.array(chatRequest).parse(await response.json());
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
