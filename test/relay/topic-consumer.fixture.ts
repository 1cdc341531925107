import { randomUUID } from 'node:crypto';
import { decodeRelayMessage, FactSieve, type ReceivedFact, type Sifted } from '@perdure/events';
import { Kafka, logLevel, type Consumer } from 'kafkajs';

/** What a consumer of the facts topic has seen. */
export class TopicConsumer {
  /** By stream, the revisions in the order in which they came to somebody with the sieve. */
  readonly facts = new Map<string, ReceivedFact[]>();
  readonly gaps: (Sifted & { readonly stream: string })[] = [];
  doubles = 0;
  messages = 0;
  stubs = 0;
  private readonly sieve: FactSieve;

  private constructor(
    private readonly consumer: Consumer,
    complete: boolean,
  ) {
    this.sieve = new FactSieve({ complete });
  }

  /** Begins to read a topic from its beginning, as a member of a group. */
  static async start(
    brokers: readonly string[],
    topic: string,
    {
      uncommitted = false,
      anyBeginning = false,
    }: { readonly uncommitted?: boolean; readonly anyBeginning?: boolean } = {},
  ): Promise<TopicConsumer> {
    const kafka = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING, retry: { retries: 50 } });
    const consumer = kafka.consumer({
      groupId: `test-${randomUUID()}`,
      readUncommitted: uncommitted,
      maxWaitTimeInMs: 100,
      retry: { retries: 50, maxRetryTime: 2_000 },
    });
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    const one = new TopicConsumer(consumer, !anyBeginning);
    await consumer.run({
      autoCommit: false,
      eachMessage: async ({ message }) => one.take(message),
    });
    return one;
  }

  get count(): number {
    let count = 0;
    for (const facts of this.facts.values()) count += facts.length;
    return count;
  }

  async stop(): Promise<void> {
    await this.consumer.disconnect();
  }

  private take(message: Parameters<typeof decodeRelayMessage>[0]): void {
    const decoded = decodeRelayMessage(message);
    if (!decoded.ok) throw new Error(`${decoded.field} ${decoded.message}`);
    const { received } = decoded;
    this.messages += 1;
    const sifted = this.sieve.take(received);
    if (sifted.kind === 'double') {
      this.doubles += 1;
      return;
    }
    if (sifted.kind === 'gap') this.gaps.push({ ...sifted, stream: received.stream });
    if (received.deadLetter !== undefined) this.stubs += 1;
    const known = this.facts.get(received.stream);
    if (known === undefined) this.facts.set(received.stream, [received]);
    else known.push(received);
  }
}
