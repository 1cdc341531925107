import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A network between a store and its server that can be broken. */
export interface Proxy {
  /** The address of the server, by way of the proxy. */
  readonly url: string;
  /** From now on what the server says is lost; what it is told arrives. */
  swallowAnswers(): void;
  /** Resolves when the server has said something that was lost. */
  swallowed(): Promise<void>;
  /** Ends all connections. New ones are sound. */
  cut(): void;
  close(): Promise<void>;
}

export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let isSwallowing = false;
  let onSwallowed: () => void = () => undefined;
  let swallowed = new Promise<void>((resolve) => {
    onSwallowed = resolve;
  });
  const server = createServer((client) => {
    const upstream = connect(Number(port === '' ? 5432 : port), hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    client.on('data', (data) => upstream.write(data));
    const isSwallowed = (): boolean => isSwallowing;
    upstream.on('data', (data) => {
      if (isSwallowed()) onSwallowed();
      else client.write(data);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    swallowAnswers() {
      isSwallowing = true;
    },
    swallowed: () => swallowed,
    cut() {
      isSwallowing = false;
      swallowed = new Promise((resolve) => {
        onSwallowed = resolve;
      });
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
