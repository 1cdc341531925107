import type { Kafka } from 'kafkajs';
import type { ConnectionOptions } from '../options.js';
import { clientConfig } from './client.js';
import { ClusterOf, socketFactory, withoutAborted, type Cluster, type StoredMessage } from './client-parts.js';

const READ_COMMITTED = 1;
const EARLIEST = -2;
const LATEST = -1;
/** Milliseconds that a broker waits for something to give. */
const WAIT_MS = 100;
const FETCH_BYTES = 4 * 1024 * 1024;

/** The offsets of a partition: the first that is there, and the end of what is committed. */
export interface PartitionRange {
  readonly partition: number;
  readonly first: bigint;
  readonly end: bigint;
}

export interface TopicMessage {
  readonly partition: number;
  readonly offset: bigint;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | undefined>>;
}

/** What a read gave: committed messages, and where the next one begins. */
interface Page {
  readonly messages: readonly TopicMessage[];
  readonly next: bigint;
}

/** Reads the committed messages of partitions from any offset, without a consumer group. */
export class TopicReader {
  private constructor(private readonly cluster: Cluster) {}

  static async open(kafka: Kafka, options: ConnectionOptions): Promise<TopicReader> {
    const config = await clientConfig(options);
    const cluster = new ClusterOf({
      ...config,
      logger: kafka.logger(),
      socketFactory: socketFactory(),
      metadataMaxAge: 300_000,
      allowAutoTopicCreation: false,
      maxInFlightRequests: null,
      isolationLevel: READ_COMMITTED,
    });
    await cluster.connect();
    return new TopicReader(cluster);
  }

  async ranges(topic: string): Promise<readonly PartitionRange[]> {
    await this.cluster.addTargetTopic(topic);
    const partitions = this.cluster.findTopicPartitionMetadata(topic).map(({ partitionId }) => partitionId);
    const [first, end] = [
      await this.offsets(topic, partitions, EARLIEST),
      await this.offsets(topic, partitions, LATEST),
    ];
    return partitions
      .sort((a, b) => a - b)
      .map((partition) => ({ partition, first: first.get(partition) ?? 0n, end: end.get(partition) ?? 0n }));
  }

  /** The committed messages of a partition from an offset until another, in order. */
  async *read(
    topic: string,
    { partition, first, end }: PartitionRange,
    signal?: AbortSignal,
  ): AsyncGenerator<TopicMessage> {
    let from = first;
    while (from < end) {
      signal?.throwIfAborted();
      const { messages, next } = await this.page(topic, partition, from);
      for (const message of messages) if (message.offset < end) yield message;
      if (next === from) continue;
      from = next;
    }
  }

  /** The last committed message of a partition. */
  async last(topic: string, { partition, first, end }: PartitionRange): Promise<TopicMessage | undefined> {
    for (let back = 16n; ; back *= 8n) {
      const from = end - back > first ? end - back : first;
      let last: TopicMessage | undefined;
      for await (const message of this.read(topic, { partition, first: from, end })) last = message;
      if (last !== undefined || from === first) return last;
    }
  }

  close(): Promise<void> {
    return this.cluster.disconnect();
  }

  private async page(topic: string, partition: number, from: bigint): Promise<Page> {
    const broker = await this.leader(topic, partition);
    const { responses } = await broker.fetch({
      isolationLevel: READ_COMMITTED,
      maxWaitTime: WAIT_MS,
      maxBytes: FETCH_BYTES,
      topics: [{ topic, partitions: [{ partition, fetchOffset: String(from), maxBytes: FETCH_BYTES }] }],
    });
    const fetched = responses[0]?.partitions[0];
    if (fetched === undefined) return { messages: [], next: from };
    // A batch is given whole, also what is before the place that was asked for.
    const wanted = fetched.messages.filter(({ offset }) => BigInt(offset) >= from);
    const { abortedTransactions } = fetched;
    const committed = withoutAborted({ messages: wanted, abortedTransactions }).filter((one) => !one.isControlRecord);
    const lastOffset = fetched.messages.at(-1)?.offset;
    const next = lastOffset === undefined ? from : BigInt(lastOffset) + 1n;
    return { messages: committed.map((message) => received(partition, message)), next: next > from ? next : from };
  }

  private async offsets(
    topic: string,
    partitions: readonly number[],
    timestamp: number,
  ): Promise<ReadonlyMap<number, bigint>> {
    const found = new Map<number, bigint>();
    const leaders = this.cluster.findLeaderForPartitions(topic, partitions);
    for (const [nodeId, led] of Object.entries(leaders)) {
      const broker = await this.cluster.findBroker({ nodeId });
      const { responses } = await broker.listOffsets({
        isolationLevel: READ_COMMITTED,
        topics: [{ topic, partitions: led.map((partition) => ({ partition, timestamp })) }],
      });
      for (const response of responses)
        for (const { partition, offset } of response.partitions) found.set(partition, BigInt(offset));
    }
    return found;
  }

  private leader(topic: string, partition: number): ReturnType<Cluster['findBroker']> {
    const [nodeId = ''] = Object.keys(this.cluster.findLeaderForPartitions(topic, [partition]));
    return this.cluster.findBroker({ nodeId });
  }
}

function received(partition: number, { offset, key, value, headers }: StoredMessage): TopicMessage {
  return { partition, offset: BigInt(offset), key, value, headers };
}
