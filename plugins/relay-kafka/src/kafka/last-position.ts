import type { TopicNames } from '../topics/topic-names.js';
import type { TopicReader } from './topic-reader.js';

/**
 * The place in the store up to which everything is on the topics: the highest position of the last messages of their
 * partitions. One transaction holds one piece of the store whole, so what is before its last fact is there as well.
 * `undefined` when there has never been a fact. The state topic keeps the place when all facts of the other are past
 * their retention.
 */
export async function lastPosition(reader: TopicReader, names: TopicNames): Promise<string | undefined> {
  const facts = await reader.ranges(names.facts);
  if (facts.every(({ end }) => end === 0n)) return undefined;
  let highest: string | undefined;
  for (const [topic, ranges] of [
    [names.facts, facts],
    [names.state, await reader.ranges(names.state)],
  ] as const) {
    for (const range of ranges) {
      const message = await reader.last(topic, range);
      const position = message?.headers['ce_position']?.toString();
      if (position !== undefined && (highest === undefined || position > highest)) highest = position;
    }
  }
  return highest;
}
