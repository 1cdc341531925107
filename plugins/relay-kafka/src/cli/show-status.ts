import type { EventStore } from '@perdure/plugin-api';
import { kafkaClient } from '../kafka/client.js';
import { relayFailure } from '../kafka/failure.js';
import { lastPosition } from '../kafka/last-position.js';
import { TopicReader } from '../kafka/topic-reader.js';
import type { RelayOptions } from '../options.js';
import { relayOwner } from '../pump/lease.js';
import { Planner } from '../pump/planner.js';
import { StreamMemory } from '../pump/stream-memory.js';
import { topicNames } from '../topics/topic-names.js';
import type { Told } from './relay-command.js';

/** `perdure relay status`: who relays, and how far the topic is behind the store. */
export async function showStatus({ store, options, io, json, signal }: Told): Promise<number> {
  const names = topicNames(options.topics.prefix);
  const owner = await relayOwner(store, names.facts);
  const position = await placeOnTopic(options);
  const behind = await factsBehind(store, options, position, signal);
  const status = {
    topic: names.facts,
    owner: owner === undefined || owner.isReleased ? null : { node: owner.node, epoch: owner.epoch },
    position: position ?? null,
    behind,
  };
  if (json) io.out(`${JSON.stringify(status)}\n`);
  else {
    const who = status.owner === null ? 'no relay' : `${status.owner.node} (epoch ${status.owner.epoch})`;
    io.out(`topic    ${status.topic}\nrelay    ${who}\nposition ${status.position ?? '-'}\nbehind   ${behind} facts\n`);
  }
  return 0;
}

async function placeOnTopic(options: RelayOptions): Promise<string | undefined> {
  try {
    const kafka = await kafkaClient(options);
    const names = topicNames(options.topics.prefix);
    const admin = kafka.admin();
    await admin.connect();
    const known = await admin.listTopics().finally(() => admin.disconnect());
    if (!known.includes(names.facts) || !known.includes(names.state)) return undefined;
    const reader = await TopicReader.open(kafka, options);
    return await lastPosition(reader, names).finally(() => reader.close());
  } catch (error) {
    throw relayFailure(error);
  }
}

/** The facts of the store behind a position that the relay lets through. */
async function factsBehind(
  store: EventStore,
  options: RelayOptions,
  after: string | undefined,
  signal: AbortSignal,
): Promise<number> {
  const planner = new Planner(store, options.filter, new StreamMemory(options.remembered));
  const wanted = new Map<string, boolean>();
  let behind = 0;
  const source = after === undefined ? { all: true as const } : { all: true as const, after };
  for await (const { facts, caughtUp } of store.subscribe(source, { categories: ['session', 'budget'], signal })) {
    for (const fact of facts) {
      const isWanted = wanted.get(fact.stream) ?? (await planner.isWanted(fact));
      wanted.set(fact.stream, isWanted);
      if (isWanted) behind += 1;
    }
    if (caughtUp) break;
  }
  return behind;
}
