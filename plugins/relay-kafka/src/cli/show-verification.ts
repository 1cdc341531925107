import { verifyTopic } from '../verify/verify.js';
import type { Told } from './relay-command.js';

/** The exit code of a difference, as of all commands that verify. */
const DIFFERS = 4;

/** `perdure relay verify`: whether each fact of the store is on the topic as it is stored, and nothing else. */
export async function showVerification({ store, options, io, json, signal }: Told): Promise<number> {
  const verification = await verifyTopic(store, options, signal);
  const { agrees, differences, topic, ...counts } = verification;
  if (json) io.out(`${JSON.stringify(verification)}\n`);
  else {
    io.out(`${topic}: ${agrees ? 'agrees with the store' : 'differs from the store'}\n`);
    for (const [name, count] of Object.entries(counts)) if (count > 0) io.out(`  ${name.padEnd(11)}${count}\n`);
    for (const { kind, stream, revision } of differences) io.out(`  ${kind}: ${stream} at revision ${revision}\n`);
  }
  return agrees ? 0 : DIFFERS;
}
