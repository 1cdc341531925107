import grpc from '@grpc/grpc-js';
import { setMaxListeners } from 'node:events';
import { Access, type Users } from './access/access.js';
import { Members, type Member } from './cluster/members.js';
import type { FaultRule } from './faults/fault.js';
import { FaultBoard } from './faults/fault-board.js';
import { OpenCalls, type CallCounts } from './faults/open-calls.js';
import { Connections } from './network/connections.js';
import { serverOf } from './rpc/server.js';
import { Database } from './streams/database.js';

export interface EmulatorOptions {
  /** Where the events are kept; made when it is not there. One process at a time may have it. */
  readonly folder: string;
  /** A port of the loopback; a free one when absent. */
  readonly port?: number;
  /** A certificate and its key as PEM texts, and the file in which clients find whom to trust. */
  readonly tls?: Certificate;
  /** Who may call; everybody may when absent. The client sends credentials only over TLS. */
  readonly users?: Users;
  /** Bytes of one append; 1 MiB when absent. */
  readonly maxAppendBytes?: number;
  /** Calls at one time over one connection; 100 when absent. */
  readonly maxStreamsPerConnection?: number;
  /** Wait for the disk before an answer; true when absent. Without it only the process may die, not the machine. */
  readonly waitsForDisk?: boolean;
}

export interface Certificate {
  readonly certificate: string;
  readonly key: string;
  readonly authorityFile: string;
}

/** What goes wrong, at the caller's wish. */
export interface FaultControl {
  /** Lets calls fail that come from now on. */
  inject(rule: FaultRule): Promise<void>;
  /** Takes back all rules. Calls that were hit stay hit. */
  clear(): Promise<void>;
  /** Destroys all connections. */
  cutConnections(): Promise<void>;
  /** What this node says about its cluster. */
  setMembers(members: readonly Member[]): Promise<void>;
  counts(): Promise<ServerCounts>;
}

export interface ServerCounts {
  readonly connections: number;
  /** Calls that wait for their end. */
  readonly open: CallCounts;
  /** Calls since the start. */
  readonly total: CallCounts;
}

export interface Emulator {
  readonly port: number;
  /** For the official client. */
  readonly connectionString: string;
  readonly faults: FaultControl;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
const MIB = 1024 * 1024;
/** What the real server keeps. */
const RECENT_ID_BYTES = 8 * MIB;

/** Starts a server with what its folder holds. Throws when the folder is in use or damaged, or the port is taken. */
export async function startEmulator(options: EmulatorOptions): Promise<Emulator> {
  const database = await Database.open({
    folder: options.folder,
    waitsForDisk: options.waitsForDisk ?? true,
    maxAppendBytes: options.maxAppendBytes ?? MIB,
    recentIdBytes: RECENT_ID_BYTES,
  });
  try {
    return await serve(database, options);
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function serve(database: Database, options: EmulatorOptions): Promise<Emulator> {
  const stopping = new AbortController();
  // Every open call listens to it.
  setMaxListeners(0, stopping.signal);
  const faults = new FaultBoard();
  const calls = new OpenCalls();
  const members = new Members({ host: HOST, port: () => connections.port });
  const access = new Access(options.users, database.index);
  const cut = (peer: string): void => connections.cut(peer);
  const parts = { database, access, members, faults, calls, cut, stopping: stopping.signal };
  const server = serverOf(parts, options.maxStreamsPerConnection ?? 100);
  const injector = server.createConnectionInjector(credentialsOf(options.tls));
  const connections = await Connections.listen(options.port ?? 0, (socket) => injector.injectConnection(socket));
  return {
    port: connections.port,
    connectionString: connectionStringOf(connections.port, options),
    faults: {
      inject: async (rule) => faults.add(rule),
      clear: async () => faults.clear(),
      cutConnections: async () => connections.cutAll(),
      setMembers: async (list) => members.set(list),
      counts: async () => ({ connections: connections.count, open: calls.open, total: calls.total }),
    },
    async close() {
      stopping.abort();
      injector.destroy();
      server.forceShutdown();
      await connections.close();
      await database.close();
    },
  };
}

function credentialsOf(tls: Certificate | undefined): grpc.ServerCredentials {
  if (tls === undefined) return grpc.ServerCredentials.createInsecure();
  const pair = { private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.certificate) };
  return grpc.ServerCredentials.createSsl(null, [pair]);
}

function connectionStringOf(port: number, { tls, users }: EmulatorOptions): string {
  if (tls === undefined) return `esdb://${HOST}:${port}?tls=false`;
  const [name, user] = Object.entries(users ?? {})[0] ?? [];
  const who =
    name === undefined || user === undefined ? '' : `${encodeURIComponent(name)}:${encodeURIComponent(user.password)}@`;
  return `esdb://${who}${HOST}:${port}?tls=true&tlsCAFile=${encodeURIComponent(tls.authorityFile)}`;
}
