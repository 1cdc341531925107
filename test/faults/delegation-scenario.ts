import type { Scenario } from './scenario.js';

/** Work that is handed on to a session of its own; the parent goes on with what comes back. */
export const delegating: Scenario = {
  name: 'work that is handed on',
  script: {
    rules: [
      {
        when: { userTextContains: 'hand it on', toolResults: 0 },
        answer: {
          calls: [{ name: 'task', input: { agent: 'general', description: 'do it', prompt: 'do it' } }],
        },
      },
      { answer: { text: 'done', deltas: 1 } },
    ],
  },
  async drive(session) {
    const turn = await session.prompt({ query: 'hand it on', promptId: 'p-1' });
    await session.resume();
    await turn.finished;
  },
};
