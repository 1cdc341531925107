import type { Scenario } from './scenario.js';

const COUNT = 20;

/** More than one append carries: the import may break off between two of them. */
const snapshot = {
  id: 's',
  messages: Array.from({ length: COUNT }, (_, index) => ({
    id: `m${index + 1}`,
    sequence: index + 1,
    revision: 1,
    turnId: 't',
    createdAt: 1,
    role: 'user',
    mode: 'turn',
    parts: [{ type: 'text', text: `message ${index + 1} ${'z'.repeat(60_000)}` }],
  })),
  context_summary: 'There were many messages.',
  context_hidden: Array.from({ length: COUNT - 1 }, (_, index) => index + 1),
};

/** A session is made of a snapshot, in more than one append. */
export const importing: Scenario = {
  name: 'an import',
  script: { rules: [] },
  prepare: (agent) => agent.sessions.import(snapshot),
  async drive(session) {
    await session.info();
  },
};
