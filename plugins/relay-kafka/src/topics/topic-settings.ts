import type { TopicOptions } from '../options.js';
import { topicNames } from './topic-names.js';

/** A topic as it must be. */
export interface WantedTopic {
  readonly topic: string;
  readonly partitions: number;
  /** It is made with exactly these. */
  readonly settings: Readonly<Record<string, string>>;
  /** Settings of which one that exists may have more. */
  readonly atLeast: readonly string[];
}

/** The topics of a relay, with all settings that its promises rest on. */
export function wantedTopics(options: TopicOptions): readonly WantedTopic[] {
  const { prefix, partitions, retentionMs, maxMessageBytes, maxDeadLetterBytes, minInsyncReplicas } = options;
  const names = topicNames(prefix);
  const copies = minInsyncReplicas === undefined ? {} : { 'min.insync.replicas': String(minInsyncReplicas) };
  // Retention counts from when a message was sent: facts that are relayed again from the beginning are not old.
  const common = { 'message.timestamp.type': 'LogAppendTime', 'compression.type': 'producer', ...copies };
  const kept = { 'cleanup.policy': 'delete', 'retention.ms': String(retentionMs), 'retention.bytes': '-1' };
  const atLeast = ['max.message.bytes', 'retention.ms', 'retention.bytes', 'min.insync.replicas'];
  return [
    {
      topic: names.facts,
      partitions,
      settings: { ...common, ...kept, 'max.message.bytes': String(maxMessageBytes) },
      atLeast,
    },
    {
      topic: names.state,
      partitions,
      settings: { ...common, 'cleanup.policy': 'compact', 'max.message.bytes': String(maxMessageBytes) },
      atLeast,
    },
    {
      topic: names.deadLetters,
      partitions: 1,
      settings: { ...common, ...kept, 'max.message.bytes': String(maxDeadLetterBytes) },
      atLeast,
    },
  ];
}

export interface WrongSetting {
  readonly setting: string;
  readonly actual: string;
  readonly expected: string;
}

/** The first setting of a topic that is not as it must be. */
export function wrongSetting(
  wanted: WantedTopic,
  partitions: number,
  settings: ReadonlyMap<string, string>,
): WrongSetting | undefined {
  if (partitions !== wanted.partitions)
    return { setting: 'partitions', actual: String(partitions), expected: String(wanted.partitions) };
  for (const [setting, expected] of Object.entries(wanted.settings)) {
    const actual = settings.get(setting) ?? 'unknown';
    const isEnough = wanted.atLeast.includes(setting) && amountOf(actual) >= amountOf(expected);
    if (actual !== expected && !isEnough) return { setting, actual, expected };
  }
  return undefined;
}

/** `-1` is no limit. */
function amountOf(text: string): number {
  const amount = Number(text);
  return amount === -1 ? Number.POSITIVE_INFINITY : amount;
}
