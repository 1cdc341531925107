import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BrokerProcess } from './broker-process.js';
import { resolveKafka } from './jars.js';
import type { ProxiedPort } from './proxy/kafka-proxy.js';
import { serverProperties, type Listener, type Secured } from './settings.js';

const run = promisify(execFile);

export interface KafkaOptions {
  /** Where its data is kept, also after `stop`; a temporary folder that `stop` removes when absent. */
  readonly folder?: string;
  /** A free port when absent. */
  readonly port?: number;
  /** Another way in, with names, passwords and rules. */
  readonly secured?: Secured;
  /** Further lines of `server.properties`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Options of Java. Those of tests start fast. */
  readonly java?: readonly string[];
}

/** A real Apache Kafka of one node. */
export interface KafkaBroker {
  /** For clients: `['127.0.0.1:<port>']`. */
  readonly brokers: readonly string[];
  /** For clients that come in by `secured`. */
  readonly securedBrokers: readonly string[];
  /** Where `KafkaProxy.open` makes a way in that loses replies on demand. */
  readonly proxied: ProxiedPort;
  readonly pid: number | undefined;
  /** Ends it at once, as a crash does. Its files stay. */
  kill(): Promise<void>;
  /** Starts it again on the same files and ports. */
  start(): Promise<void>;
  /** Ends it, and removes its files when they are temporary. */
  stop(): Promise<void>;
}

const FAST_START = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xmx512m'];
const QUIET = [
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=error',
  '-Dorg.slf4j.simpleLogger.log.kafka.server.KafkaRaftServer=info',
];

/** Starts a broker, and returns when it takes clients. Throws an error that says what is missing on this machine. */
export async function startKafka(options: KafkaOptions = {}): Promise<KafkaBroker> {
  const { java, classPath } = await resolveKafka();
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'perdure-kafka-'));
  const [client = 0, secure = 0, front = 0, behind = 0, internal = 0, controller = 0] = await freePorts(6);
  const port = options.port ?? client;
  const listeners: readonly Listener[] = [
    { name: 'CLIENT', port },
    { name: 'PROXIED', port: behind, advertised: front },
    ...(options.secured === undefined ? [] : [{ name: 'SECURED' as const, port: secure }]),
    { name: 'INTERNAL', port: internal },
    { name: 'CONTROLLER', port: controller },
  ];
  const data = join(folder, 'data');
  const { secured, settings } = options;
  const properties = join(folder, 'server.properties');
  writeFileSync(properties, serverProperties({ data, listeners, secured, others: settings }), { mode: 0o600 });
  const base = [...(options.java ?? FAST_START), ...QUIET, '-cp', classPath];
  const broker = new BrokerProcess(java, [...base, 'kafka.Kafka', properties]);
  const stop = async (): Promise<void> => {
    await broker.end('SIGTERM');
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    if (!existsSync(join(data, 'meta.properties'))) {
      const cluster = randomBytes(16).toString('base64url');
      await run(java, [...base, 'kafka.tools.StorageTool', 'format', '-t', cluster, '-c', properties]);
    }
    await broker.start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    brokers: [`127.0.0.1:${port}`],
    securedBrokers: options.secured === undefined ? [] : [`127.0.0.1:${secure}`],
    proxied: { port: front, target: behind },
    get pid() {
      return broker.pid;
    },
    kill: () => broker.end('SIGKILL'),
    start: () => broker.start(),
    stop,
  };
}

/** Ports that are free together. */
async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.map((server) => (server.address() as AddressInfo).port);
  for (const server of servers) {
    server.close();
    await once(server, 'close');
  }
  return ports;
}
