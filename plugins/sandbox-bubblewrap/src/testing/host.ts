import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { join } from 'node:path';
import { giveToOrdinaryUser, type Places, type RuntimeUser } from './enclosure.js';

/** What a machine has that a command must not reach: servers on all kinds of sockets, and a process. */
export interface Host {
  readonly port: number;
  readonly socketPath: string;
  readonly abstractName: string;
  readonly victim: ChildProcess;
  /** How often anybody connected. */
  connections(): number;
  close(): Promise<void>;
}

export async function openHost({ outside }: Places, user: RuntimeUser): Promise<Host> {
  let connections = 0;
  const listen = async (place: number | string): Promise<Server> => {
    const server = createServer((socket) => {
      connections += 1;
      socket.end('reached the host\n');
    });
    if (typeof place === 'string') server.listen(place);
    else server.listen(place, '127.0.0.1');
    await once(server, 'listening');
    return server;
  };
  const socketPath = join(outside, 'host.sock');
  const abstractName = `perdure-sandbox-test-${process.pid}-${user}`;
  const network = await listen(0);
  const servers = [network, await listen(socketPath), await listen(`\0${abstractName}`)];
  giveToOrdinaryUser(socketPath);
  const ids = process.geteuid?.() === 0 && user === 'ordinary' ? { uid: 65534, gid: 65534 } : {};
  const victim = spawn('/usr/bin/sleep', ['600'], { stdio: 'ignore', cwd: '/', ...ids });
  return {
    port: (network.address() as AddressInfo).port,
    socketPath,
    abstractName,
    victim,
    connections: () => connections,
    close: async () => {
      victim.kill('SIGKILL');
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}
