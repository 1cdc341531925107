import { CompressionTypes, Partitioners, type Kafka, type Message, type Producer, type Transaction } from 'kafkajs';
import type { BatchOptions } from '../options.js';

/** Milliseconds after which the broker gives up a transaction of a relay that died. */
const TRANSACTION_TIMEOUT_MS = 60_000;

export interface TopicMessages {
  readonly topic: string;
  readonly messages: Message[];
}

/**
 * The one producer of a relay. A new one with the same transactional id fences all before it, and ends what they left
 * open, before `open` returns. One transaction is in flight at most. After any rejection it must be closed and a new
 * one opened: this client counts the sequence numbers of a batch that was rejected once more, and a broker then takes
 * the next batch for a double of one that it has.
 */
export class Sender {
  private isSpent = false;

  private constructor(
    private readonly producer: Producer,
    private transaction: Transaction | undefined,
    private readonly compression: CompressionTypes,
  ) {}

  static async open(kafka: Kafka, transactionalId: string, { compression }: BatchOptions): Promise<Sender> {
    const producer = kafka.producer({
      transactionalId,
      maxInFlightRequests: 1,
      transactionTimeout: TRANSACTION_TIMEOUT_MS,
      allowAutoTopicCreation: false,
      // The same for ever: the order of a session's facts depends on it.
      createPartitioner: Partitioners.DefaultPartitioner,
    });
    try {
      await producer.connect();
      // The first transaction asks for the producer's id, and with it for the end of all that was before.
      const transaction = await producer.transaction();
      const codec = compression === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None;
      return new Sender(producer, transaction, codec);
    } catch (error) {
      await disconnect(producer);
      throw error;
    }
  }

  /**
   * One transaction: what `work` sends is on the topics as a whole or not at all. Sending tells the place of the first
   * message, `<topic>/<partition>/<offset>`. When it rejects, the transaction may still have been committed: look at
   * the topic with the next sender.
   */
  async transact(work: (send: (...messages: TopicMessages[]) => Promise<string>) => Promise<void>): Promise<void> {
    if (this.isSpent) throw new Error('the producer had a rejection');
    try {
      const transaction = this.transaction ?? (await this.producer.transaction());
      this.transaction = undefined;
      await work(async (...topicMessages) => {
        const [first] = await transaction.sendBatch({ topicMessages, acks: -1, compression: this.compression });
        return `${first?.topicName ?? ''}/${first?.partition ?? 0}/${first?.baseOffset ?? 0}`;
      });
      await transaction.commit();
    } catch (error) {
      this.isSpent = true;
      throw error;
    }
  }

  close(): Promise<void> {
    this.isSpent = true;
    return disconnect(this.producer);
  }
}

/** A connection that is broken cannot be closed in order. */
async function disconnect(producer: Producer): Promise<void> {
  await producer.disconnect().catch(() => undefined);
}
