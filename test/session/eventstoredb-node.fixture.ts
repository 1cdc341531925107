/** A node in a process of its own: it starts a turn, and waits in a tool for ever. */
import { nodeOf } from '../fixtures/eventstoredb.js';

const order = JSON.parse(process.argv[2] ?? '') as { connectionString: string; folder: string };
const { agent } = await nodeOf({ ...order, nodeId: 'first' }, () => {
  process.send?.({ ready: true });
  return new Promise(() => undefined);
});
const session = await agent.sessions.create({ sessionId: 's' });
await (
  await session.prompt('Where is the pelican?')
).finished;
