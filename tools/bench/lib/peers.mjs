// Runs the harness that measures peers, in a copy of its folder with Perdure as one contender more.
import { spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** Those who keep a session on disk without a server, and the two ends: nothing kept, and the hand-written loop. */
const CONTENDERS = 'floor-loop,ai-sdk,diy-sqlite,perdure,langgraph-sqlite,openai-agents-sqlite,mastra-libsql';
const MOST_MS = 150_000;

/** Milliseconds of a round by contender; `undefined`, loudly, when there is no harness or it measured nothing. */
export async function measurePeers(root, { repeats }) {
  const harness = process.env['PERDURE_PEERS'];
  if (harness === undefined || !existsSync(join(harness, 'run.mjs'))) {
    console.error('\n!!!!!! NO PEERS: set PERDURE_PEERS to the folder of their harness. Its row is left out.\n');
    return undefined;
  }
  const folder = mkdtempSync(join(root, 'peers-'));
  cpSync(harness, folder, { recursive: true, filter: (path) => !['node_modules', 'results'].includes(basename(path)) });
  const modules = join(harness, 'node_modules');
  if (existsSync(modules)) symlinkSync(resolve(modules), join(folder, 'node_modules'));
  const adapter = pathToFileURL(fileURLToPath(new URL('../peers-adapter.mjs', import.meta.url))).href;
  writeFileSync(join(folder, 'adapters', 'perdure.mjs'), `export * from '${adapter}';\n`);
  const { results, summary } = await run(folder, repeats);
  const failed = new Map(results.filter(({ error }) => error !== undefined).map((one) => [one.adapter, one.error]));
  for (const [name, error] of failed) {
    console.error(`!!!!!! PEER ${name} COULD NOT BE MEASURED (run npm ci in its harness?): ${error.slice(0, 160)}`);
  }
  const measured = summary.map(({ adapter: name, msPerRound, kbPerRound }) => [
    name,
    { msPerRound: msPerRound.median, kbPerRound: kbPerRound?.median },
  ]);
  return measured.length === 0 ? undefined : Object.fromEntries(measured);
}

function run(folder, repeats) {
  const args = ['run.mjs', '--workloads', 'w1', '--adapters', CONTENDERS, '--repeats', String(repeats), '--json'];
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args, '--dir', join(folder, 'runs')], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: MOST_MS,
    });
    let out = '';
    child.stdout.on('data', (data) => (out += data));
    child.on('close', (code, signal) => {
      if (code === 0) resolve(JSON.parse(out));
      else reject(new Error(`the harness of the peers ended with ${code ?? signal}`));
    });
  });
}
