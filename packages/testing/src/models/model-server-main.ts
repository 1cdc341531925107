import { createInterface } from 'node:readline';
import { reasonOf } from '@perdure/plugin-api';
import { startModelServer } from './model-server.js';
import type { ScriptData } from './script.js';

interface Start {
  readonly script: ScriptData;
  readonly port?: number;
  readonly models?: readonly string[];
}

function startOfArguments(script: string, port: string | undefined): Start {
  return { script: JSON.parse(script) as ScriptData, ...(port === undefined ? {} : { port: Number(port) }) };
}

async function startOfInput(): Promise<Start> {
  const lines = createInterface({ input: process.stdin });
  lines.once('close', () => process.exit());
  const line = await new Promise<string>((resolve) => lines.once('line', resolve));
  return JSON.parse(line) as Start;
}

/**
 * The model server as a process of its own: `node model-server-main.js ['<script as JSON>' [port]]`. It prints one JSON
 * line, `{"port":…,"url":…,"pid":…}`, and serves until it is ended. Without a script in the arguments it takes one
 * line of standard input, `{"script":…,"port"?:…,"models"?:…}`, and ends with it, so that it does not outlive its
 * parent.
 */
async function main(): Promise<void> {
  const [script, port] = process.argv.slice(2);
  const server = await startModelServer(script === undefined ? await startOfInput() : startOfArguments(script, port));
  console.log(JSON.stringify({ port: server.port, url: server.url, pid: process.pid }));
}

main().catch((error: unknown) => {
  console.error(reasonOf(error));
  process.exit(1);
});
