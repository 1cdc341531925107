import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Frames } from './frames.js';

/** Requests of Kafka's protocol, by the numbers that they have there. */
export const apiKeys = {
  produce: 0,
  fetch: 1,
  metadata: 3,
  initProducerId: 22,
  addPartitionsToTxn: 24,
  endTxn: 26,
} as const;
export type ApiName = keyof typeof apiKeys;

/** Which replies get lost. */
export interface LostReply {
  readonly api: ApiName;
  /** How many, from the next one on. */
  readonly count: number;
  /** `cut`: the connection ends too. `silent`: it stays and nothing comes. */
  readonly how: 'cut' | 'silent';
}

/** The port that a broker tells clients of a proxy, and the one that leads to it. Both are of this machine. */
export interface ProxiedPort {
  readonly port: number;
  readonly target: number;
}

/** Between clients and a broker that tells them this address. The broker gets all requests; replies may be lost. */
export class KafkaProxy {
  private readonly sockets = new Set<Socket>();
  private lost: { api: number; left: number; how: LostReply['how'] } | undefined;
  private lostReplies = 0;
  private isAway = false;

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    server.on('connection', (client) => this.serve(client));
  }

  static async open({ port, target }: ProxiedPort): Promise<KafkaProxy> {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new KafkaProxy(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get brokers(): readonly string[] {
    return [`127.0.0.1:${this.port}`];
  }

  /** How many replies were lost so far. */
  get lostCount(): number {
    return this.lostReplies;
  }

  lose({ api, count, how }: LostReply): void {
    this.lost = { api: apiKeys[api], left: count, how };
  }

  /** Nobody gets through until `back`. */
  away(): void {
    this.isAway = true;
    this.cutAll();
  }

  /** Ends all connections. */
  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  back(): void {
    this.isAway = false;
  }

  async close(): Promise<void> {
    this.away();
    this.server.close();
    await once(this.server, 'close');
  }

  private serve(client: Socket): void {
    if (this.isAway) {
      client.destroy();
      return;
    }
    const broker = connect(this.target, '127.0.0.1');
    const asked = new Map<number, number>();
    const requests = new Frames();
    const replies = new Frames();
    for (const [socket, other] of [
      [client, broker],
      [broker, client],
    ] as const) {
      this.sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.sockets.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (chunk) => {
      for (const frame of requests.push(chunk)) asked.set(frame.readInt32BE(8), frame.readInt16BE(4));
      broker.write(chunk);
    });
    broker.on('data', (chunk) => {
      for (const frame of replies.push(chunk)) {
        const correlation = frame.readInt32BE(4);
        const how = this.fate(asked.get(correlation));
        asked.delete(correlation);
        if (how === undefined) client.write(frame);
        else if (how === 'cut') client.destroy();
      }
    });
  }

  private fate(api: number | undefined): LostReply['how'] | undefined {
    const { lost } = this;
    if (lost === undefined || lost.left === 0 || api !== lost.api) return undefined;
    lost.left -= 1;
    this.lostReplies += 1;
    return lost.how;
  }
}
