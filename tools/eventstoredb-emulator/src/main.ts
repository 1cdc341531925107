import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HELP, parseCommandLine, type CommandLine } from './command-line.js';
import { serveControl } from './control/control-server.js';
import { startEmulator } from './emulator.js';
import { certificateIn } from './tls/certificate-file.js';

/** Runs until it is told to stop by a signal. */
async function run(line: CommandLine): Promise<void> {
  const folder = line.folder ?? (await mkdtemp(join(tmpdir(), 'eventstoredb-')));
  const { port, users, maxAppendBytes, maxStreamsPerConnection, waitsForDisk } = line;
  const emulator = await startEmulator({
    folder,
    port,
    maxAppendBytes,
    maxStreamsPerConnection,
    waitsForDisk,
    ...(line.tls && { tls: await certificateIn(folder) }),
    ...(users !== undefined && { users }),
  });
  const control = await serveControl(emulator.faults, line.controlPort);
  print({ connectionString: emulator.connectionString });
  print({ control: control.url });
  await new Promise((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
    if (line.endsWithInput) process.stdin.once('close', resolve).resume();
  });
  process.stdin.destroy();
  await control.close();
  await emulator.close();
  if (line.folder === undefined) await rm(folder, { recursive: true, force: true });
}

function print(line: Readonly<Record<string, string>>): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

try {
  const line = parseCommandLine(process.argv.slice(2));
  if (line.help) process.stdout.write(HELP);
  else await run(line);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
