import { setTimeout as delay } from 'node:timers/promises';
import { decodeRelayMessage, keyText, type SessionKey } from '@perdure/events';
import { Partitioners } from 'kafkajs';
import { kafkaClient } from '../kafka/client.js';
import { relayFailure } from '../kafka/failure.js';
import { TopicReader, type TopicMessage } from '../kafka/topic-reader.js';
import { topicNames } from '../topics/topic-names.js';
import type { Told } from './relay-command.js';

/** Milliseconds between two looks at the end of the partition. */
const LOOK_MS = 250;

/** `perdure relay tail`: the messages of a session on the topic, from the first, and then as they come. */
export async function tail({ options, io, json, signal }: Told, key: SessionKey, once: boolean): Promise<number> {
  const topic = topicNames(options.topics.prefix).facts;
  const wanted = keyText(key);
  try {
    const reader = await TopicReader.open(await kafkaClient(options), options);
    try {
      let next: bigint | undefined;
      for (;;) {
        const ranges = await reader.ranges(topic);
        const range = ranges[partitionOf(topic, wanted, ranges.length)];
        if (range === undefined) return 0;
        for await (const message of reader.read(topic, { ...range, first: next ?? range.first }, signal))
          if (message.key?.toString() === wanted) io.out(lineOf(message, json));
        next = range.end;
        if (once) return 0;
        await delay(LOOK_MS, undefined, { signal });
      }
    } finally {
      await reader.close();
    }
  } catch (error) {
    if (signal.aborted) return 0;
    throw relayFailure(error);
  }
}

/** The same that the producer takes. */
function partitionOf(topic: string, key: string, partitions: number): number {
  const partitionMetadata = Array.from({ length: partitions }, (_, partitionId) => {
    return { partitionId, leader: 1, partitionErrorCode: 0, replicas: [], isr: [] };
  });
  return Partitioners.DefaultPartitioner()({ topic, partitionMetadata, message: { key, value: null } });
}

function lineOf(message: TopicMessage, json: boolean): string {
  const { partition, offset } = message;
  const decoded = decodeRelayMessage(message);
  if (!decoded.ok) return `${partition}/${offset}\t${decoded.field} ${decoded.message}\n`;
  const { value, stream, revision, type } = decoded.received;
  if (json) return `${JSON.stringify({ partition, offset: String(offset), ...value })}\n`;
  const { occurred_at: time, status, dead_letter: letter } = value;
  const more = [status, letter === null ? null : `dead letter ${letter}`].filter((text) => text !== null);
  return `${time ?? '-'}\t${stream}@${revision}\t${type}${more.length === 0 ? '' : `\t${more.join(', ')}`}\n`;
}
