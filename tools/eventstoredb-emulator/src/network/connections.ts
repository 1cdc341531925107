import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** The connections of clients, each of which can be destroyed as if a cable were cut. */
export class Connections {
  private readonly server: Server;
  private readonly sockets = new Map<string, Socket>();

  private constructor(server: Server) {
    this.server = server;
  }

  /** Listens on a port of the loopback, a free one for 0, and hands on what connects. */
  static async listen(port: number, accept: (socket: Socket) => void): Promise<Connections> {
    const server = createServer({ noDelay: true });
    const connections = new Connections(server);
    server.on('connection', (socket) => {
      connections.add(socket);
      accept(socket);
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', resolve);
    });
    return connections;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get count(): number {
    return this.sockets.size;
  }

  /** `peer` is the address and port of the client. */
  cut(peer: string): void {
    this.sockets.get(peer)?.destroy();
  }

  cutAll(): void {
    for (const socket of this.sockets.values()) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.cutAll();
    await closed;
  }

  private add(socket: Socket): void {
    const peer = `${socket.remoteAddress ?? ''}:${socket.remotePort ?? ''}`;
    this.sockets.set(peer, socket);
    socket.on('close', () => this.sockets.delete(peer));
    // A client that goes away without a word is nothing to report.
    socket.on('error', () => socket.destroy());
  }
}
