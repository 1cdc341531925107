import { topicNames } from '../topics/topic-names.js';
import { Relay } from '../pump/relay.js';
import type { Told } from './relay-command.js';

/** Milliseconds between two looks at what is told. */
const LOOK_MS = 200;

/** `perdure relay run`: relays, or stands by, until the process is told to end. */
export async function runRelay({ store, options, node, logger, io, json, signal }: Told): Promise<number> {
  const relay = new Relay({ store, options, logger, ...(node === undefined ? {} : { node }) });
  const { facts } = topicNames(options.topics.prefix);
  let told = '';
  const tell = (): void => {
    const status = relay.status();
    const { state, epoch, caughtUp, lastError } = status;
    const now = JSON.stringify([state, epoch, caughtUp, lastError?.code]);
    if (now === told) return;
    told = now;
    if (json) io.out(`${JSON.stringify({ topic: facts, ...status })}\n`);
    else io.error(`${facts}: ${textOf(state, caughtUp, lastError?.message)}\n`);
  };
  const timer = setInterval(tell, LOOK_MS);
  try {
    await relay.run(signal);
    return 0;
  } finally {
    clearInterval(timer);
    tell();
  }
}

function textOf(state: string, caughtUp: boolean, error: string | undefined): string {
  if (state === 'relaying') return caughtUp ? 'everything is on the topic' : 'relaying';
  return state === 'away' && error !== undefined ? `away: ${error}` : state;
}
