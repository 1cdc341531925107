import type { Scenario } from './scenario.js';

/**
 * Changes that wait for the end of a step, of every kind that a session can be asked for; none is lost or made twice.
 */
export const changesInStep: Scenario = {
  name: 'changes in the middle of a step',
  script: {
    rules: [
      { when: { userTextContains: 'Summarise the conversation' }, answer: { text: 'the summary' } },
      {
        when: { userTextContains: 'go', toolResults: 0 },
        answer: { calls: [{ name: 'peek', input: { key: 'a' }, providerCallId: 'call_0' }] },
      },
      { answer: { text: 'well' } },
    ],
  },
  async drive(session) {
    // A process that is started again is given the values again.
    const { messages } = await session.info();
    const env: Record<string, string> = messages === 0 ? { REGION: 'north' } : { REGION: 'north', STAGE: 'two' };
    const given = await session.set({ env });
    const turn = await session.prompt({ query: 'go', promptId: 'p-1' });
    await session.resume();
    const handles = [given, await session.set({ model: 'second', env: { STAGE: 'two' } }), await session.syncshot()];
    await turn.finished;
    for (const { finished } of handles) {
      const outcome = await finished;
      if (!outcome.success) throw new Error(outcome.error?.code);
    }
    const { turn: left } = await session.info();
    if (left !== null) throw new Error('a turn is left');
  },
};
