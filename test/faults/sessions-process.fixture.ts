import { createRuntime } from '@perdure/core';
import { isPerdureError } from '@perdure/plugin-api';
import { storesOfFolder } from '../fixtures/stores-of-folder.js';

/**
 * Does one thing with the sessions of a folder, in a process of its own: `{ folder, create }` makes sessions of these
 * ids all at once when a line comes in, `{ folder }` lists what there is. Prints what came of it as JSON.
 */
const order = JSON.parse(process.argv[2] ?? '{}') as { readonly folder: string; readonly create?: readonly string[] };
const runtime = await createRuntime({ plugins: [storesOfFolder(order.folder)] });
const agent = runtime.agent({ id: 'clerk' });
await agent.ready();

if (order.create === undefined) {
  const { items, total } = await agent.sessions.list({ limit: 500 });
  const found = await agent.sessions.search('needle');
  const { heapUsed } = process.memoryUsage();
  process.stdout.write(`${JSON.stringify({ items, total, found: found.items.map(({ id }) => id), heapUsed })}\n`);
} else {
  process.stdout.write('ready\n');
  await new Promise((resolve) => process.stdin.once('data', resolve));
  process.stdin.destroy();
  const made = await Promise.all(
    order.create.map(async (sessionId) => {
      try {
        await agent.sessions.create({ sessionId });
        return sessionId;
      } catch (error) {
        if (isPerdureError(error, 'PERDURE_SESSION_EXISTS')) return '';
        throw error;
      }
    }),
  );
  process.stdout.write(`${JSON.stringify(made.filter((id) => id !== ''))}\n`);
}
await runtime.dispose();
