import type { EventStore } from '@perdure/plugin-api';
import { startWaitingNode, type WaitingNode } from './waiting.fixture.js';

/**
 * A process of its own: `{ folder, nodeId, waitingGraceMs, role }` as JSON in the first argument. `owner` begins a turn
 * and says when its session waits; `passivated` also asks that the session leaves; `runner` has the agent and stays;
 * `answer` allows what is asked, as a command does, and is killed right after its commit.
 */
const order = JSON.parse(process.argv[2] ?? '{}') as WaitingNode & {
  readonly role: 'owner' | 'passivated' | 'runner' | 'answer';
};

/** The process ends behind the commit of an answer, before anything follows from it. */
const dyingOfAnswer = (events: EventStore): EventStore => ({
  name: events.name,
  capabilities: events.capabilities,
  limits: events.limits,
  append: async (stream, facts, options) => {
    const result = await events.append(stream, facts, options);
    if (result.status === 'stored' && facts.some(({ type }) => type === 'ApprovalResolved'))
      process.kill(process.pid, 'SIGKILL');
    return result;
  },
  read: (stream, options) => events.read(stream, options),
  subscribe: (source, options) => events.subscribe(source, options),
  truncate: (stream, before) => events.truncate(stream, before),
  close: () => events.close(),
});

const { role, ...setup } = order;
const isAnswer = role === 'answer';
const { agent } = await startWaitingNode({
  ...setup,
  ...(isAnswer ? { agent: false, keepsSessions: false, around: dyingOfAnswer } : {}),
});
switch (role) {
  case 'owner':
  case 'passivated': {
    const session = await agent.sessions.create({ sessionId: 's' });
    await session.prompt('go');
    while ((await session.interactions()).length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    if (role === 'passivated') void session.emit({ type: 'passivation_requested', reason: 'node_drain' });
    break;
  }
  case 'answer': {
    const session = await agent.sessions.get('s');
    const [asked] = await session.interactions();
    if (asked === undefined) throw new Error('nobody is asked for anything');
    await session.respond({ id: asked.id, decision: 'allow', by: 'ada' });
    throw new Error('it was not killed');
  }
  case 'runner':
    break;
}
process.stdout.write('ready\n');
setInterval(() => undefined, 1_000);
