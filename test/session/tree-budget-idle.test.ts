import { expect, test } from 'vitest';
import { budgetedAgent } from '../fixtures/budgets.js';

test('calls of hosts in sessions without a turn hold no budget behind their end [P10]', async () => {
  const { runtime, agent, set, read } = await budgetedAgent([]);
  await agent.sessions.create({ sessionId: 'r' });
  await set('r', { calls: 12 });
  const statuses: string[] = [];
  for (let child = 0; child < 12; child++) {
    const session = await agent.sessions.create({ sessionId: `c${child}`, parent: 'r' });
    statuses.push((await session.tool('lookup', { key: 'a' })).status);
    while ((await read('r')).held.calls > 0) await new Promise((resolve) => setTimeout(resolve, 2));
  }
  expect(new Set(statuses)).toEqual(new Set(['completed']));
  expect(await read('r')).toMatchObject({ spent: { calls: 12 }, held: { calls: 0 } });
  await runtime.dispose();
});
