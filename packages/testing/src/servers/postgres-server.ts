import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { postgresBinaries } from './postgres-binaries.js';

const USER = 'perdure';
const PASSWORD = 'only for tests';

/** Milliseconds until a server must be ready, or over. */
const PATIENCE = 20_000;

export interface PostgresServerOptions {
  /** PEM of a certificate and its key: the server offers TLS. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** Settings of `postgresql.conf`, such as `{ max_connections: '20' }`. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** A real PostgreSQL that waits for the disk as in earnest, in a temporary folder and on a free port. */
export interface PostgresServer {
  /** With user and password. */
  readonly url: string;
  /** By the Unix socket, which asks for no password. */
  readonly socketUrl: string;
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Ends all of its processes at once, as a crash does. Its files stay. */
  kill(): Promise<void>;
  /** Starts it again on the same files and port. */
  start(): Promise<void>;
  /** Ends it, and removes its files. */
  stop(): Promise<void>;
}

/** Throws when there is no PostgreSQL on this machine. It refuses root: then it runs as another user. */
export async function startPostgresServer(options: PostgresServerOptions = {}): Promise<PostgresServer> {
  const binaries = postgresBinaries();
  const identity = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), 'perdure-pg-'));
  give(folder, identity);
  const data = join(folder, 'data');
  keep(join(folder, 'password'), PASSWORD, identity);
  execFileSync(
    join(binaries, 'initdb'),
    [
      ...['-D', data, '-U', USER, '--pwfile', join(folder, 'password'), '--no-sync', '--no-locale', '-E', 'UTF8'],
      ...['--auth-local=trust', '--auth-host=scram-sha-256'],
    ],
    { ...identity, cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const port = await freePort();
  const running = new Postmaster(join(binaries, 'postgres'), folder, identity, [
    ...['-D', data, '-p', String(port), '-k', folder, '-h', '127.0.0.1'],
    ...settingsOf({ fsync: 'on', shared_buffers: '32MB', log_checkpoints: 'off', ...options.settings }),
    ...tlsSettings(folder, options, identity),
  ]);
  await running.start();
  return {
    url: `postgres://${USER}:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/postgres`,
    socketUrl: `postgres://${USER}@/postgres?host=${encodeURIComponent(folder)}&port=${port}`,
    port,
    user: USER,
    password: PASSWORD,
    kill: () => running.kill(),
    start: () => running.start(),
    async stop() {
      await running.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Identity {
  readonly uid?: number;
  readonly gid?: number;
}

/** The process that all others of a server belong to. */
class Postmaster {
  private readonly program: string;
  private readonly folder: string;
  private readonly identity: Identity;
  private readonly args: readonly string[];
  private child: ChildProcess | undefined;
  private guard: ChildProcess | undefined;
  private readonly onExit = (): void => void this.child?.kill('SIGKILL');

  constructor(program: string, folder: string, identity: Identity, args: readonly string[]) {
    this.program = program;
    this.folder = folder;
    this.identity = identity;
    this.args = args;
  }

  /** What is left of a killed server may hold its files for a moment: then it is tried again. */
  async start(): Promise<void> {
    const end = performance.now() + PATIENCE;
    for (;;) {
      const said = await this.tryStart();
      if (said === undefined) return;
      if (performance.now() > end || !said.includes('still in use'))
        throw new Error(`PostgreSQL did not start: ${said}`);
      await setTimeout(20);
    }
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (child?.pid === undefined) return;
    const children = childrenOf(child.pid);
    await this.end(child, 'SIGKILL');
    for (const pid of children) killIfThere(pid);
  }

  async stop(): Promise<void> {
    const { child } = this;
    if (child === undefined) return;
    await Promise.race([this.end(child, 'SIGINT'), setTimeout(PATIENCE, undefined, { ref: false })]);
    if (child.exitCode === null && child.signalCode === null) await this.kill();
  }

  /** What it said when it did not become ready. */
  private async tryStart(): Promise<string | undefined> {
    const { identity: user, folder: cwd } = this;
    const child = spawn(this.program, this.args, { ...user, cwd, stdio: ['ignore', 'ignore', 'pipe'] });
    this.child = child;
    process.once('exit', this.onExit);
    let said = '';
    const ready = new Promise<true>((resolve) => {
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-20_000);
        if (said.includes('ready to accept connections')) resolve(true);
      });
    });
    const isReady = await Promise.race([
      ready,
      once(child, 'exit').then(() => false),
      setTimeout(PATIENCE, false, { ref: false }),
    ]);
    if (isReady) {
      this.guard = child.pid === undefined ? undefined : guardOf(child.pid, cwd);
      return undefined;
    }
    await this.kill();
    return said;
  }

  private async end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    process.removeListener('exit', this.onExit);
    this.guard?.kill();
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }
}

/**
 * Ends a server whose process was killed that had started it, and removes its files. It learns of that by the end of
 * its input.
 */
function guardOf(pid: number, folder: string): ChildProcess {
  const script = [
    'read -r _',
    '[ "$(head -n 1 "$2/data/postmaster.pid" 2>/dev/null)" = "$1" ] || exit',
    'kill -QUIT "$1"',
    'while kill -0 "$1" 2>/dev/null; do sleep 0.1; done',
    'rm -rf -- "$2"',
  ].join('\n');
  const guard = spawn('sh', ['-c', script, 'guard', String(pid), folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A terminal's interrupt is for the tests: it must outlast them.
    detached: true,
  });
  guard.unref();
  return guard;
}

/** The user that runs the server: the one of this process, or for root the one that Debian makes, or nobody. */
function unprivileged(): Identity {
  if (process.getuid?.() !== 0) return {};
  const users = readFileSync('/etc/passwd', 'utf8').split('\n');
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find((line) => line.startsWith(`${name}:`))?.split(':') ?? [];
    if (uid !== undefined && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL does not run as root, and there is no user "postgres" or "nobody".');
}

function tlsSettings(folder: string, { tls }: PostgresServerOptions, identity: Identity): readonly string[] {
  if (tls === undefined) return [];
  const place = join(folder, 'tls');
  mkdirSync(place);
  give(place, identity);
  const [cert, key] = [join(place, 'server.crt'), join(place, 'server.key')];
  keep(cert, tls.cert, identity);
  keep(key, tls.key, identity);
  return settingsOf({ ssl: 'on', ssl_cert_file: cert, ssl_key_file: key });
}

function settingsOf(settings: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

function keep(file: string, text: string, identity: Identity): void {
  writeFileSync(file, text, { mode: 0o600 });
  give(file, identity);
}

function give(path: string, { uid, gid }: Identity): void {
  if (uid !== undefined && gid !== undefined) chownSync(path, uid, gid);
}

function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
  } catch {
    // Not Linux, or it is over: what is left ends by itself when its postmaster is gone.
    return [];
  }
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
