import kafkajs, { type Admin } from 'kafkajs';
import { PerdureError } from '@perdure/plugin-api';
import { failureType } from '../kafka/failure.js';
import type { TopicOptions } from '../options.js';
import { wantedTopics, wrongSetting, type WantedTopic } from './topic-settings.js';

// Node does not find this one among the named exports of the client.
const { ConfigResourceTypes } = kafkajs;

const CREATE_TIMEOUT_MS = 15_000;

/**
 * Makes the topics that are missing, and checks all of them. Throws PERDURE_RELAY_TOPIC with the first setting that is
 * not as it must be; nothing of a topic that exists is changed.
 */
export async function prepareTopics(admin: Admin, options: TopicOptions): Promise<void> {
  const wanted = wantedTopics(options);
  await createMissing(admin, wanted, options);
  const { topics } = await admin.fetchTopicMetadata({ topics: wanted.map(({ topic }) => topic) });
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: wanted.map(({ topic }) => ({ type: ConfigResourceTypes.TOPIC, name: topic })),
  });
  for (const each of wanted) {
    const { topic } = each;
    const partitions = topics.find(({ name }) => name === topic)?.partitions.length ?? 0;
    const entries = resources.find(({ resourceName }) => resourceName === topic)?.configEntries ?? [];
    const settings = new Map(entries.map(({ configName, configValue }) => [configName, configValue]));
    const wrong = wrongSetting(each, partitions, settings);
    if (wrong !== undefined) throw new PerdureError('PERDURE_RELAY_TOPIC', { topic, ...wrong });
  }
}

async function createMissing(
  admin: Admin,
  wanted: readonly WantedTopic[],
  { replicationFactor }: TopicOptions,
): Promise<void> {
  const known = new Set(await admin.listTopics());
  const topics = wanted
    .filter(({ topic }) => !known.has(topic))
    .map(({ topic, partitions, settings }) => ({
      topic,
      numPartitions: partitions,
      replicationFactor: replicationFactor ?? -1,
      configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
    }));
  if (topics.length === 0) return;
  try {
    await admin.createTopics({ topics, waitForLeaders: true, timeout: CREATE_TIMEOUT_MS });
  } catch (error) {
    // Another relay was quicker: its topics are checked like all others.
    if (failureType(error) !== 'TOPIC_ALREADY_EXISTS') throw error;
  }
}
