import { Relay } from '../pump/relay.js';
import { topicNames } from '../topics/topic-names.js';
import type { Told } from './relay-command.js';

/**
 * `perdure relay republish`: sends everything from the beginning to other topics, and ends when they have all. One that
 * was interrupted goes on where it was.
 */
export async function republish({ store, options, node, logger, io, json, signal }: Told): Promise<number> {
  const relay = new Relay({ store, options, logger, ...(node === undefined ? {} : { node }) });
  await relay.catchUp(signal);
  const { sent, deadLetters } = relay.status();
  const { facts: topic } = topicNames(options.topics.prefix);
  const isWhole = !signal.aborted;
  if (json) io.out(`${JSON.stringify({ topic, isWhole, sent, deadLetters })}\n`);
  else io.out(`${topic}: ${isWhole ? 'has everything' : 'was interrupted'}; ${sent} facts were sent\n`);
  return isWhole ? 0 : 1;
}
