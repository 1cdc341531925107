import { createRequire } from 'node:module';
import type { ISocketFactory, KafkaConfig, Logger } from 'kafkajs';

/**
 * Parts of kafkajs that it does not export. Its consumers read as members of a group only, which takes seconds to join,
 * needs a permission of its own, and never tells that a partition ends with an aborted transaction. Its version is
 * pinned, and the tests on the real broker run all of this.
 */
export interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadata(): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number }[];
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Readonly<Record<string, readonly number[]>>;
  findBroker(node: { readonly nodeId: string }): Promise<Broker>;
}

interface Broker {
  listOffsets(request: {
    readonly isolationLevel: number;
    readonly topics: readonly TopicPartitions<{ readonly partition: number; readonly timestamp: number }>[];
  }): Promise<{
    readonly responses: readonly {
      readonly partitions: readonly { readonly partition: number; readonly offset: string }[];
    }[];
  }>;
  fetch(request: {
    readonly isolationLevel: number;
    readonly maxWaitTime: number;
    readonly maxBytes: number;
    readonly topics: readonly TopicPartitions<{
      readonly partition: number;
      readonly fetchOffset: string;
      readonly maxBytes: number;
    }>[];
  }): Promise<{ readonly responses: readonly { readonly partitions: readonly FetchedPartition[] }[] }>;
}

interface TopicPartitions<Partition> {
  readonly topic: string;
  readonly partitions: readonly Partition[];
}

export interface FetchedPartition {
  readonly partition: number;
  readonly lastStableOffset: string;
  readonly abortedTransactions: readonly { readonly producerId: string; readonly firstOffset: string }[];
  readonly messages: readonly StoredMessage[];
}

export interface StoredMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | undefined>>;
  readonly isControlRecord: boolean;
}

type ClusterOptions = Omit<KafkaConfig, 'logCreator' | 'logLevel'> & {
  readonly brokers: readonly string[];
  readonly logger: Logger;
  readonly socketFactory: ISocketFactory;
  readonly metadataMaxAge: number;
  readonly allowAutoTopicCreation: boolean;
  readonly maxInFlightRequests: null;
  readonly isolationLevel: number;
};

const load = createRequire(import.meta.url) as (id: string) => unknown;

export const ClusterOf = load('kafkajs/src/cluster/index.js') as new (options: ClusterOptions) => Cluster;

export const socketFactory = load('kafkajs/src/network/socketFactory.js') as () => ISocketFactory;

/** Leaves out the messages of transactions that were aborted. */
export const withoutAborted = load('kafkajs/src/consumer/filterAbortedMessages.js') as (fetched: {
  readonly messages: readonly StoredMessage[];
  readonly abortedTransactions: FetchedPartition['abortedTransactions'];
}) => readonly StoredMessage[];
