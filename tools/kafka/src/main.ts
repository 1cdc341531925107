import { parseArgs } from 'node:util';
import { resolveKafka } from './jars.js';
import { startKafka } from './start-kafka.js';

const HELP = `A real Apache Kafka of one node, until Ctrl-C.

  npm run kafka -- [--port <port>] [--folder <folder>]
  npm run kafka -- --resolve

  --port     the port for clients (default: a free one)
  --folder   where its data is kept (default: a temporary folder, removed at the end)
  --resolve  only fetch what is needed, and end
`;

/** Runs until it is told to stop by a signal. */
async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      port: { type: 'string' },
      folder: { type: 'string' },
      resolve: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  const { port, folder, resolve, help } = values;
  if (help === true) {
    process.stdout.write(HELP);
    return;
  }
  if (resolve === true) {
    await resolveKafka();
    return;
  }
  const broker = await startKafka({
    ...(port === undefined ? {} : { port: portOf(port) }),
    ...(folder === undefined ? {} : { folder }),
    java: ['-Xmx512m'],
  });
  process.stdout.write(`${JSON.stringify({ brokers: broker.brokers.join(','), pid: broker.pid })}\n`);
  await new Promise((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  await broker.stop();
}

function portOf(text: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new Error(`--port is a number from 1 to 65535, not "${text}".`);
}

try {
  await run(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
